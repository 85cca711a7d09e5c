import type { Log } from '@chainstead/core';
import type { EventField, FieldValue } from './event-fields.ts';

/** Each parameter is decoded once for all streams and filters. */
export interface ParameterValues {
  /** @param bytes of the longest literal: a longer value may be cut after more */
  read(log: Log, field: EventField, bytes: number): FieldValue | undefined;
}

const CUT_BYTES_MIN = 64;

/** Holds one log at a time: values may be megabytes. */
export function createParameterValues(): ParameterValues {
  const values = new Map<string, { readonly cut: number; readonly value: FieldValue | undefined }>();
  let current: Log | null = null;
  return {
    read(log, field, bytes) {
      if (log !== current) {
        values.clear();
        current = log;
      }
      const known = values.get(field.place);
      if (known !== undefined && known.cut > bytes) return known.value;
      const cut = cutAfter(bytes);
      const value = field.read(log, cut);
      values.set(field.place, { cut, value });
      return value;
    },
  };
}

/** Powers of two, so that literals of growing lengths share most values. */
function cutAfter(bytes: number): number {
  return Math.max(CUT_BYTES_MIN, 2 ** Math.ceil(Math.log2(bytes + 1)));
}
