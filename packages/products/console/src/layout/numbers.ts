import { html } from 'hono/html';
import type { Html } from './html.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Created once: `toLocaleString` creates one per call, which is fifty times slower. */
const WHOLE = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
/** Up to two of a unit, the smaller unit is clearer. */
const SMALLER_UP_TO = 2;

/** Returns a whole number; the page's script formats it in the reader's language. */
export function count(value: number): Html {
  return html`<data class="n" value="${value}">${plainCount(value)}</data>`;
}

/** Returns `1,234`, for plain text. */
export function plainCount(value: number): string {
  return WHOLE.format(value);
}

/** Returns a fraction of 1 as a percentage: never 100 % before it is complete, never 0 % above zero. */
export function percent(part: number): string {
  if (part >= 1) return '100 %';
  if (part <= 0) return '0 %';
  const tenths = Math.min(999, Math.max(1, Math.floor(part * 1_000)));
  return `${(tenths / 10).toFixed(1)} %`;
}

/** Returns a rate per second: `12.3`, `4,567`. */
export function rate(perSecond: number): string {
  return perSecond < 100 ? perSecond.toFixed(perSecond < 10 ? 2 : 1) : plainCount(perSecond);
}

/** Returns `45 s`, `3 min`, `2 h`, `4 days`. @param seconds not negative */
export function duration(seconds: number): string {
  if (seconds < SMALLER_UP_TO * MINUTE) return `${Math.round(seconds)} s`;
  if (seconds < SMALLER_UP_TO * HOUR) return `${Math.round(seconds / MINUTE)} min`;
  if (seconds < SMALLER_UP_TO * DAY) return `${Math.round(seconds / HOUR)} h`;
  return `${plainCount(Math.round(seconds / DAY))} days`;
}

/** Returns a time in UTC; the page's script formats it in the reader's language, with the time zone. */
export function moment(at: Date): Html {
  const iso = at.toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC</time>`;
}

const UNITS = ['kB', 'MB', 'GB', 'TB'] as const;
const STEP = 1_000;

/** Returns `12.3 GB`, or `−1.2 MB` for a decrease. */
export function byteText(bytes: number): string {
  const sign = bytes < 0 ? '−' : '';
  let value = Math.abs(bytes);
  if (value < STEP) return `${sign}${Math.round(value)} bytes`;
  let unit: string = '';
  for (const next of UNITS) {
    if (value < STEP) break;
    value /= STEP;
    unit = next;
  }
  return `${sign}${value.toFixed(value < 100 ? 1 : 0)} ${unit}`;
}
