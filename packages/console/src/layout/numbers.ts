import { html } from 'hono/html';
import type { Html } from './html.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Made once: `toLocaleString` with options makes one each time, which takes fifty times as long, and a page has thousands of numbers. */
const WHOLE = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
/** Up to two of a unit, the smaller one says more. */
const SMALLER_UP_TO = 2;

/** A whole number, which the page's script writes as the reader's language does. */
export function count(value: number): Html {
  return html`<data class="n" value="${value}">${plainCount(value)}</data>`;
}

/** For texts: `1,234`. */
export function plainCount(value: number): string {
  return WHOLE.format(value);
}

/** A part of 1 as percentage: never 100 % before all of it is there, never 0 % where some is. */
export function percent(part: number): string {
  if (part >= 1) return '100 %';
  if (part <= 0) return '0 %';
  const tenths = Math.min(999, Math.max(1, Math.floor(part * 1_000)));
  return `${(tenths / 10).toFixed(1)} %`;
}

/** A second's worth: `12.3`, `4,567`. */
export function rate(perSecond: number): string {
  return perSecond < 100 ? perSecond.toFixed(perSecond < 10 ? 2 : 1) : plainCount(perSecond);
}

/** `45 s`, `3 min`, `2 h`, `4 days`. @param seconds not negative */
export function duration(seconds: number): string {
  if (seconds < SMALLER_UP_TO * MINUTE) return `${Math.round(seconds)} s`;
  if (seconds < SMALLER_UP_TO * HOUR) return `${Math.round(seconds / MINUTE)} min`;
  if (seconds < SMALLER_UP_TO * DAY) return `${Math.round(seconds / HOUR)} h`;
  return `${plainCount(Math.round(seconds / DAY))} days`;
}

/** A time: in UTC, until the page's script writes it as the reader's language does, with its zone. */
export function moment(at: Date): Html {
  const iso = at.toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC</time>`;
}
