import { isObject } from '@chainstead/core';

export function jsonObject(value: unknown): Readonly<Record<string, unknown>> | null {
  return isObject(value) ? value : null;
}

/** `Option`: `{"vec": []}` or `{"vec": [element]}`. */
export function optionValue(value: unknown): unknown {
  const vector = jsonObject(value)?.vec;
  return Array.isArray(vector) ? vector[0] : undefined;
}

export function decimalDigits(value: unknown): string | null {
  return typeof value === 'string' && DECIMAL.test(value) ? value : null;
}

const DECIMAL = /^[0-9]{1,39}$/;
