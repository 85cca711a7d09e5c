/** A `timestamptz` column as the text that {@link timestampText} takes: a Date in between costs more than the rest of a row. */
export function utcText(column: string): string {
  return `(${column} AT TIME ZONE 'UTC')::text`;
}

/** `2023-02-07 08:54:55` as these routes show it: with six digits after the second, all of them 0, since whole seconds are kept. */
export function timestampText(utc: string): string {
  return `${utc.slice(0, DATE_LENGTH)}T${utc.slice(DATE_LENGTH + 1, SECONDS_LENGTH)}.000000Z`;
}

const DATE_LENGTH = '2023-02-07'.length;
const SECONDS_LENGTH = '2023-02-07 08:54:55'.length;
