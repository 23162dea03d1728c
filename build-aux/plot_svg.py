# SPDX-License-Identifier: Apache-2.0
"""Plots as SVG inside HTML, by Python's own library.

lines(...) and bars(...) give a figure: a title, a legend, the drawing, and a table of the same figures that a reader
can unfold. Colours are classes s0 to s6, which pages/site.css gives colours of Okabe and Ito in both schemes; a series
also has a dash and a marker of its own, so that no reader needs the colours.
"""

import html
import math

WIDTH, HEIGHT = 520, 320
LEFT, RIGHT, TOP, BOTTOM = 62, 14, 12, 46
DASHES = ("", "7 3", "2 3", "9 3 2 3", "12 4", "4 4", "1 2")
MARKERS = (
    "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0z",  # circle
    "M-3.6,-3.6h7.2v7.2h-7.2z",  # square
    "M0,-4.6L4.4,3.4H-4.4z",  # triangle
    "M0,-5L5,0L0,5L-5,0z",  # diamond
    "M0,4.6L4.4,-3.4H-4.4z",  # triangle, downwards
    "M-4,-4L4,4M-4,4L4,-4",  # cross
    "M-5,0H5M0,-5V5",  # plus
)


def nice(low, high, n=5):
    """Round numbers from low to high, about n of them."""
    if high <= low:
        high = low + 1
    step = 10 ** math.floor(math.log10((high - low) / n))
    for factor in (1, 2, 2.5, 5, 10):
        if (high - low) / (step * factor) <= n:
            step *= factor
            break
    first = math.ceil(low / step - 1e-9)
    return [round(i * step, 12) for i in range(first, math.floor(high / step + 1e-9) + 1)]


def short(x):
    return f"{x:,.0f}" if abs(x) >= 100 or x == int(x) else f"{x:.3g}"


class Scale:
    """From values to places along an axis."""

    def __init__(self, values, start, end, log=False, zero=False):
        low, high = min(values), max(values)
        self.log, self.start, self.end = log, start, end
        if log:
            self.low, self.high = math.log10(low), math.log10(high)
            self.ticks = (
                sorted(set(values))
                if len(set(values)) <= 7
                else [10.0**i for i in range(-9, 13) if low <= 10.0**i <= high]
            )
        else:
            self.low, self.high = (0 if zero else low), high
            self.ticks = nice(self.low, self.high)
            if zero and self.ticks[-1] < high:
                self.high = self.ticks[-1] + (self.ticks[1] - self.ticks[0])
                self.ticks.append(self.high)
        if self.high == self.low:
            self.high += 1

    def at(self, value):
        v = math.log10(value) if self.log else value
        return self.start + (self.end - self.start) * (v - self.low) / (self.high - self.low)


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


def legend(names, kind):
    entries = []
    for i, name in enumerate(names):
        drawn = (
            f'<path d="M2,9H38" class="line s{i}" stroke-dasharray="{DASHES[i]}"/>'
            f'<path d="{MARKERS[i]}" transform="translate(20 9)" class="mark s{i}"/>'
            if kind == "lines"
            else f'<rect x="8" y="2" width="24" height="14" class="bar s{i}"/>'
        )
        entries.append(
            f'<li><svg viewBox="0 0 40 18" width="40" height="18" aria-hidden="true">{drawn}</svg> '
            f"{html.escape(name)}</li>"
        )
    return f'<ul class="legend">{"".join(entries)}</ul>'


def figure(title, drawing, names, kind, text, source, data):
    note = f"<p>{html.escape(text)}</p>" if text else ""
    told = f'<p class="told">Source: <code>{html.escape(source)}</code></p>' if source else ""
    keys = legend(names, kind) if len(names) > 1 else ""
    head = f"<figcaption>{html.escape(title)}</figcaption>"
    return f'<figure class="plot">{head}{keys}{drawing}{note}{told}{data}</figure>'


def axes(x_label, y_label, y):
    parts = []
    for tick in y.ticks:
        at = y.at(tick)
        parts.append(f'<path d="M{LEFT},{at:.1f}H{WIDTH - RIGHT}" class="grid"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{short(tick)}</text>')
    parts.append(f'<path d="M{LEFT},{HEIGHT - BOTTOM}H{WIDTH - RIGHT}" class="axis"/>')
    parts.append(
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}" text-anchor="middle">{html.escape(x_label)}</text>'
    )
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(
        f'<text transform="translate(14 {middle}) rotate(-90)" text-anchor="middle">{html.escape(y_label)}</text>'
    )
    return parts


def svg(title, described, parts):
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{html.escape(title)}. {html.escape(described)}">'
        f"{''.join(parts)}</svg>"
    )


def lines(title, x_label, y_label, series, log=False, text="", source="", x_text=short, y_text=short):
    """series: (name, [(x, y), ...]). The y axis begins at 0."""
    xs = [x for _, points in series for x, _ in points]
    ys = [y for _, points in series for _, y in points]
    sx = Scale(xs, LEFT + 10, WIDTH - RIGHT - 10, log=log)
    sy = Scale(ys, HEIGHT - BOTTOM, TOP, zero=True)
    parts = axes(x_label, y_label, sy)
    for tick in sx.ticks:
        parts.append(f'<path d="M{sx.at(tick):.1f},{HEIGHT - BOTTOM}v5" class="axis"/>')
        parts.append(
            f'<text x="{sx.at(tick):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{x_text(tick)}</text>'
        )
    for i, (_, points) in enumerate(series):
        path = "L".join(f"{sx.at(x):.1f},{sy.at(y):.1f}" for x, y in points)
        parts.append(f'<path d="M{path}" class="line s{i}" stroke-dasharray="{DASHES[i]}"/>')
        for x, y in points:
            parts.append(
                f'<path d="{MARKERS[i]}" transform="translate({sx.at(x):.1f} {sy.at(y):.1f})" class="mark s{i}"/>'
            )
    known = sorted({x for x in xs})
    values = [dict(points) for _, points in series]
    rows = [[x_text(x), *(y_text(v[x]) if x in v else "" for v in values)] for x in known]
    described = f"Lines of {y_label} over {x_label}; the table below has the figures."
    names = [name for name, _ in series]
    return figure(title, svg(title, described, parts), names, "lines", text, source, table([x_label, *names], rows))


def bars(title, y_label, groups, names, values, text="", source="", y_text=short):
    """A group of bars for each of `groups`, and in it a bar for each of `names`; values[group][name]."""
    sy = Scale([v for row in values for v in row], HEIGHT - BOTTOM, TOP, zero=True)
    parts = axes("", y_label, sy)
    room = (WIDTH - RIGHT - LEFT) / len(groups)
    wide = min(46, room * 0.8 / len(names))
    for g, group in enumerate(groups):
        middle = LEFT + room * (g + 0.5)
        for i in range(len(names)):
            x = middle + (i - len(names) / 2) * wide
            top = sy.at(values[g][i])
            parts.append(
                f'<rect x="{x:.1f}" y="{top:.1f}" width="{wide - 3:.1f}" '
                f'height="{HEIGHT - BOTTOM - top:.1f}" class="bar s{i}"/>'
            )
            parts.append(
                f'<text x="{x + (wide - 3) / 2:.1f}" y="{top - 4:.1f}" text-anchor="middle" class="value">'
                f"{y_text(values[g][i])}</text>"
            )
        for k, word in enumerate(group.split("\n")):
            parts.append(
                f'<text x="{middle:.1f}" y="{HEIGHT - BOTTOM + 17 + 15 * k}" text-anchor="middle">'
                f"{html.escape(word)}</text>"
            )
    rows = [[group.replace("\n", " "), *(y_text(v) for v in values[g])] for g, group in enumerate(groups)]
    described = f"Bars of {y_label}; the table below has the figures."
    return figure(title, svg(title, described, parts), names, "bars", text, source, table(["", *names], rows))
