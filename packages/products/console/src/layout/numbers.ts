import type { RecentCalls } from '@chainstead/sync/ingest';
import { html } from 'hono/html';
import { cut, type Html, opened, shown } from './html.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** `toLocaleString` creates one per call, which is fifty times slower. */
const WHOLE = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const SMALLER_UP_TO = 2;

export function count(value: number): Html {
  return html`<data class="n" value="${value}">${plainCount(value)}</data>`;
}

export function counted(value: number, singular: string, plural: string): Html {
  return html`${count(value)} ${value === 1 ? singular : plural}`;
}

export function plainCount(value: number): string {
  return WHOLE.format(value);
}

const FRACTION_DIGITS = 6;
const SIGNIFICANT_DIGITS = 4;

/** A decimal number, shortened by cutting off digits; opened, it has all. Other texts are unchanged. */
export function decimal(text: string): Html {
  const [, sign = '', whole, fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole === undefined) return shown(text);
  const zeros = fraction.length - fraction.replace(/^0+/, '').length;
  const digits = whole === '0' ? Math.max(FRACTION_DIGITS, zeros + SIGNIFICANT_DIGITS) : FRACTION_DIGITS;
  const part = fraction.slice(0, digits).replace(/0+$/, '');
  const short = `${sign}${grouped(whole)}${part === '' ? '' : `.${part}`}`;
  const view = html`<data value="${text}">${short}</data>`;
  return part === fraction.replace(/0+$/, '') ? view : opened(view, text);
}

const LARGE_DIGITS = 3;

/** An amount of money, cut off after the digits that matter. */
export function money(text: string): Html {
  const [, sign, whole, fraction = ''] = /^(-?)([1-9]\d*)(?:\.(\d+))?$/.exec(text) ?? [];
  if (sign === undefined || whole === undefined) return decimal(text);
  const digits = whole.length < LARGE_DIGITS ? SIGNIFICANT_DIGITS : CENTS;
  const part = fraction
    .slice(0, digits)
    .replace(/0+$/, '')
    .padEnd(fraction === '' ? 0 : CENTS, '0');
  return html`<data value="${text}">${sign}${grouped(whole)}${part === '' ? '' : `.${part}`}</data>`;
}

const CENTS = 2;

function grouped(whole: string): string {
  return whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}

/** A fraction of 1: never 100 % before it is complete, never 0 % above zero. */
export function percent(part: number): string {
  if (part >= 1) return '100 %';
  if (part <= 0) return '0 %';
  const tenths = Math.min(999, Math.max(1, Math.floor(part * 1_000)));
  return `${(tenths / 10).toFixed(1)} %`;
}

export function rate(perSecond: number): string {
  return perSecond < 100 ? perSecond.toFixed(perSecond < 10 ? 2 : 1) : plainCount(perSecond);
}

export function duration(seconds: number): string {
  if (seconds < SMALLER_UP_TO * MINUTE) return `${Math.round(seconds)} s`;
  if (seconds < SMALLER_UP_TO * HOUR) return `${Math.round(seconds / MINUTE)} min`;
  if (seconds < SMALLER_UP_TO * DAY) return `${Math.round(seconds / HOUR)} h`;
  return `${plainCount(Math.round(seconds / DAY))} days`;
}

/** UTC; the page's script formats it in the reader's language. */
export function moment(at: Date): Html {
  const iso = at.toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC</time>`;
}

const UNITS = ['kB', 'MB', 'GB', 'TB'] as const;
const STEP = 1_000;

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

export type Severity = 'ok' | 'warning' | 'bad';

/** The text names the state: nothing depends on the color. */
export function severityView(severity: Severity, text: Html | string): Html {
  return html`<span class="v-${severity}">${text}</span>`;
}

export function nodeStateView(state: string, reason: string | null, max: number): Html {
  const severity = state === 'healthy' ? 'ok' : state === 'degraded' || state === 'paused' ? 'warning' : 'bad';
  return html`${severityView(severity, shown(state))}${reason !== null && html`: ${shown(reason, max)}`}`;
}

export function streamStatusView(status: string): Html {
  return html`<span class="status s-${status}">${status}</span>`;
}

export function attemptView(success: boolean): Html {
  return success ? severityView('ok', 'delivered') : severityView('bad', 'failed');
}

export function sumOfTimes(calls: readonly Pick<RecentCalls, 'latency'>[]): number[] {
  const sum: number[] = [];
  for (const { latency } of calls)
    for (const [place, answers] of latency.entries()) sum[place] = (sum[place] ?? 0) + answers;
  return sum;
}

/** Most frequent first. Errors of the call itself don't count. */
export function faultsOf(calls: readonly Pick<RecentCalls, 'outcome' | 'calls'>[]): ReadonlyMap<string, number> {
  const faults = new Map<string, number>();
  for (const { outcome, calls: times } of calls)
    if (outcome !== 'ok' && outcome !== 'error' && times > 0)
      faults.set(outcome, (faults.get(outcome) ?? 0) + times);
  return new Map([...faults].toSorted(([, one], [, other]) => other - one));
}

const KINDS_SHOWN = 4;

export function kindsText(faults: ReadonlyMap<string, number>): string {
  const kinds = [...faults].slice(0, KINDS_SHOWN).map(([kind, times]) => `${cut(kind, 40)} ${plainCount(times)}`);
  return [...kinds, ...(faults.size > KINDS_SHOWN ? ['…'] : [])].join(', ');
}
