import { describe, expect, test } from 'vitest';
import { ExactNumber, parseLosslessJson } from './lossless-json.ts';

describe('JSON without loss', () => {
  test.each([
    '9007199254740993',
    '-9007199254740993',
    '3779102112180351519751675603',
    '1000000000000000000000',
    '115792089237316195423570985008687907853269984665640564039457584007913129639935',
    '0.1234567890123456789',
    '9007199254740990.9999999',
    '1e400',
    '-1e-400',
  ])('keeps the digits of %s', (source) => {
    const value = parseLosslessJson(`{"a":[${source}]}`);
    expect(value).toEqual({ a: [new ExactNumber(source)] });
    expect(JSON.stringify(value)).toBe(`{"a":[${source}]}`);
    expect(String(parseLosslessJson(source))).toBe(source);
  });

  test.each([
    '0',
    '-0',
    '1.50',
    '9007199254740992',
    '100000000000000000000',
    '1e3',
    '1E+21',
    '12.5e-3',
    '0.0000000000000000',
    '0e5',
    '1.0000000000000000000',
  ])('reads %s as the number that it is', (source) => {
    expect(parseLosslessJson(source)).toBe(Number(source));
  });

  test('reads everything else as JSON.parse does', () => {
    const text =
      '{"b":"9007199254740993","a":[true,null,"1e400"],"__proto__":{"x":1},"b":" 12345678901234567890 "}';
    expect(parseLosslessJson(text)).toEqual(JSON.parse(text));
    expect(JSON.stringify(parseLosslessJson(text))).toBe(JSON.stringify(JSON.parse(text)));
    expect(() => parseLosslessJson('{"a":12345678901234567890')).toThrow(SyntaxError);
  });
});
