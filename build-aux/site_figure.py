# SPDX-License-Identifier: Apache-2.0
"""A plot in a page: a picture that `heddle plot` draws, for wide and for narrow windows, and a table of the same figures
that a reader can unfold."""

import base64
import html

import chart

WIDE, NARROW = 600, 340  # pixels; the narrow one below 560


def shown(value, form):
    """A figure in the table."""
    if value is None:
        return ""
    if form == "percent":
        return f"{100 * value:.4g}%"
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"


def table(head, rows):
    cells = "".join(f'<th scope="col" class="number">{html.escape(str(h))}</th>' for h in head)
    body = "".join(
        "<tr>" + "".join(f'<td class="number">{html.escape(str(c))}</td>' for c in row) + "</tr>" for row in rows
    )
    label = html.escape("Table: " + ", ".join(map(str, head)))
    return (
        f'<details class="data"><summary>The same figures as a table</summary><div class="scroll" tabindex="0" '
        f'role="region" aria-label="{label}"><table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table></div>'
        "</details>"
    )


class Figures:
    """heddle: the command that draws."""

    def __init__(self, heddle):
        self.heddle = heddle

    def address(self, made, width):
        picture = chart.svg(made, self.heddle, width)
        return "data:image/svg+xml;base64," + base64.b64encode(picture.encode()).decode()

    def figure(self, made, described, text, source, data):
        note = f"<p>{html.escape(text)}</p>" if text else ""
        told = f'<p class="told">Source: <code>{html.escape(source)}</code></p>' if source else ""
        title = html.escape(made["title"])
        return (
            f'<figure class="plot"><figcaption class="unseen">{title}</figcaption><picture>'
            f'<source media="(max-width: 560px)" srcset="{self.address(made, NARROW)}">'
            f'<img src="{self.address(made, WIDE)}" alt="{title}. {html.escape(described)}"></picture>'
            f"{note}{told}{data}</figure>"
        )

    def lines(self, title, x_label, y_label, series, log=False, text="", source="", x_form="plain", y_form="plain"):
        """series: (name, [(x, y), ...])."""
        curves = [chart.series(name, points) for name, points in series]
        panel = chart.lines(curves, chart.axis(x_label, x_form, log=log), chart.axis(y_label, y_form))
        values = [dict(points) for _, points in series]
        known = sorted({x for points in values for x in points})
        rows = [[shown(x, x_form), *(shown(v.get(x), y_form) for v in values)] for x in known]
        described = f"Lines of {y_label} over {x_label}; the table below has the figures."
        data = table([x_label, *(name for name, _ in series)], rows)
        return self.figure(chart.chart(title, [panel]), described, text, source, data)

    def bars(self, title, y_label, groups, names, values, text="", source="", y_form="plain"):
        """A group of bars for each of `groups`, and in it a bar for each of `names`; values[group][name]."""
        panel = chart.bars(groups, names, values, y_label, y_form)
        rows = [[group, *(shown(v, y_form) for v in values[g])] for g, group in enumerate(groups)]
        described = f"Bars of {y_label}; the table below has the figures."
        return self.figure(chart.chart(title, [panel]), described, text, source, table(["", *names], rows))
