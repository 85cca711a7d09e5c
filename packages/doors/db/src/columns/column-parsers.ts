import { type CustomTypesConfig, types } from 'pg';
import { DatabaseError } from '../database-error.ts';

const OID_INT8 = types.builtins.INT8;
const OID_INT8_ARRAY = 1016;
const OID_NUMERIC_ARRAY = 1231;

export const columnParsers: CustomTypesConfig = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (format === 'binary') return types.getTypeParser(oid, 'binary');
    if (oid === OID_INT8) return parseSafeInteger;
    if (oid === OID_INT8_ARRAY) return parseSafeIntegers;
    // pg parses elements as floating-point numbers, which lose digits.
    if (oid === OID_NUMERIC_ARRAY) return parseNumerics;
    return types.getTypeParser(oid, 'text');
  },
};

function parseSafeInteger(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value)) return value;
  throw new DatabaseError({
    code: 'DATABASE_INTEGER_TOO_LARGE',
    message: `The database returned the integer ${text}, which a JavaScript number cannot hold exactly`,
    facts: { value: text },
    remedy: 'Select the column as text',
    retryable: false,
  });
}

const parseSafeIntegers = arrayOf(parseSafeInteger);
const parseNumerics = arrayOf((text) => text);

function arrayOf<T>(parse: (text: string) => T): (text: string) => (T | null)[] {
  return (text) => {
    const items = text === '{}' ? [] : text.slice(1, -1).split(',');
    return items.map((item) => (item === 'NULL' ? null : parse(item)));
  };
}
