import { InvalidParameterError } from '@chainstead/http';

/** The position after which a list page starts: a time, in Postgres format, and an id. */
type Position = readonly [time: string, id: string];

const POSITION =
  /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(\.\d{1,6})?([+-]\d\d)(:\d\d)?_([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})$/;

/** Returns a position for a page's URL. */
export function writePosition([time, id]: Position): string {
  return `${time}_${id}`;
}

/** Null if the URL has none: the first page. @throws InvalidParameterError */
export function readPosition(given: string | undefined): Position | null {
  if (given === undefined || given === '') return null;
  const [, day = '', time = '', fraction = '', hours = '', minutes = ':00', id = ''] = POSITION.exec(given) ?? [];
  const at = new Date(id === '' ? Number.NaN : `${day}T${time}${hours}${minutes}`);
  if (Number.isNaN(at.getTime()))
    throw new InvalidParameterError({ parameter: 'after', given, allowed: 'the cursor of a link to the next page' });
  // Formatted again, so that it is a valid time; to the microsecond, which a Date can't represent.
  return [`${at.toISOString().slice(0, 'yyyy-mm-ddThh:mm:ss'.length)}${fraction}Z`, id];
}
