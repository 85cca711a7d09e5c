/** SQL that is put together from pieces: what the statements of all datasets are written with. */
import type { Address } from '@chainstead/core';

export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Adds a value to a statement and gives its placeholder. */
export type Bind = (value: unknown) => string;

/** The condition, written so that the planner expects it of nearly every row (0.995) whatever statistics say. */
export function expectedTrue(condition: string): string {
  return `(CASE WHEN ${condition} THEN true END) IS NOT NULL`;
}

/** `WHERE` with all of the conditions; nothing for none. */
export function where(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
}

/** A `bytea` column as the text that the API shows. */
export function hexText(column: string): string {
  return `'0x' || encode(${column}, 'hex')`;
}

/** A `timestamptz` column as the text that {@link showMoment} takes: a Date in between costs more than the rest of a row. */
export function utcText(column: string): string {
  return `(${column} AT TIME ZONE 'UTC')::text`;
}

/** `2026-01-02 03:04:05.678` as the API shows it: `2026-01-02T03:04:05.678Z`. */
export function showMoment(utc: string): string {
  return `${utc.slice(0, DATE_LENGTH)}T${utc.slice(DATE_LENGTH + 1, SECONDS_LENGTH)}.${utc.slice(SECONDS_LENGTH + 1, SECONDS_LENGTH + 4).padEnd(3, '0')}Z`;
}

const DATE_LENGTH = '2026-01-02'.length;
const SECONDS_LENGTH = '2026-01-02 03:04:05'.length;

/** An address as `bytea` columns take it. */
export function addressBytes(address: Address): Buffer {
  return Buffer.from(address.slice(2), 'hex');
}

/**
 * What is the same for all of a page's rows, in the first of them alone: it is worked out and sent once. The page's rows have their
 * number as `place`; a page without rows has one row without place.
 */
export function inFirstRow(expression: string): string {
  return `CASE WHEN coalesce(page.place, 1) = 1 THEN ${expression} END`;
}

/** The rows of a page, numbered for {@link inFirstRow}. */
export function numbered(page: string, conditions: readonly string[]): string {
  return `SELECT row.*, row_number() OVER () AS place FROM (${page}) AS row ${where(conditions)}`;
}
