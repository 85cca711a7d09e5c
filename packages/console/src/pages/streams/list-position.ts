import { InvalidParameterError } from '@chainstead/http';

/** After what a page of a list begins: when that was, as Postgres writes it, and its id. */
type Position = readonly [time: string, id: string];

const POSITION =
  /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(\.\d{1,6})?([+-]\d\d)(:\d\d)?_([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})$/;

/** For a page's address. */
export function writePosition([time, id]: Position): string {
  return `${time}_${id}`;
}

/** Null where the address has none: the first page. @throws InvalidParameterError */
export function readPosition(given: string | undefined): Position | null {
  if (given === undefined || given === '') return null;
  const [, day = '', time = '', fraction = '', hours = '', minutes = ':00', id = ''] = POSITION.exec(given) ?? [];
  const at = new Date(id === '' ? Number.NaN : `${day}T${time}${hours}${minutes}`);
  if (Number.isNaN(at.getTime()))
    throw new InvalidParameterError({ parameter: 'after', given, allowed: 'what a link to the next page has' });
  // Written anew, so that it is a time that there is; to the microsecond, which a Date doesn't keep.
  return [`${at.toISOString().slice(0, 'yyyy-mm-ddThh:mm:ss'.length)}${fraction}Z`, id];
}
