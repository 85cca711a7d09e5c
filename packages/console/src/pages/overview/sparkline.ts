import { html } from 'hono/html';
import { type Html, NOTHING } from '../../layout/html.ts';
import { plainCount } from '../../layout/numbers.ts';

const WIDTH = 240;
const HEIGHT = 34;
/** So that the line is not cut. */
const MARGIN = 2;
const POINTS_MIN = 2;

/** A line without axes, too small to be a plot: there without script. Breaks where values are unknown. @param what they are */
export function sparkline(values: readonly (number | null)[], what: string): Html {
  const known = values.filter((value) => value !== null);
  const last = known.at(-1);
  if (known.length < POINTS_MIN || last === undefined) return NOTHING;
  const top = Math.max(1, ...known);
  const x = (index: number): string => ((index * WIDTH) / (values.length - 1)).toFixed(1);
  const y = (value: number): string => (HEIGHT - MARGIN - (value / top) * (HEIGHT - 2 * MARGIN)).toFixed(1);
  const lines = piecesOf(values).map((piece) => piece.map(({ index, value }) => `${x(index)},${y(value)}`).join(' '));
  const label = `${what}: ${plainCount(last)} now, ${plainCount(top)} at most`;
  return html`<svg class="line" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${label}"><title>${label}</title>${lines.map((points) => html`<polyline points="${points}"/>`)}</svg>`;
}

interface Point {
  readonly index: number;
  readonly value: number;
}

/** Neighbours that are known. */
function piecesOf(values: readonly (number | null)[]): Point[][] {
  const pieces: Point[][] = [[]];
  for (const [index, value] of values.entries())
    if (value === null) pieces.push([]);
    else pieces.at(-1)?.push({ index, value });
  return pieces.filter((piece) => piece.length > 0);
}
