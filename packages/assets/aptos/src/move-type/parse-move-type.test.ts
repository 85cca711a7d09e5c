import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatMoveType, type MoveType, PRIMITIVE_NAMES, standardAddress } from './move-type.ts';
import { MoveTypeError, NESTING_MAX, parseMoveType } from './parse-move-type.ts';

const identifiers = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,12}$/);
const addresses = fc
  .stringMatching(/^[0-9a-f]{1,64}$/)
  .map((digits) => standardAddress(digits))
  .filter((address) => address !== null);

const { type: types } = fc.letrec<{ type: MoveType; struct: MoveType }>((tie) => ({
  struct: fc.record({
    kind: fc.constant('struct' as const),
    address: addresses,
    module: identifiers,
    name: identifiers,
    typeArguments: fc.array(tie('type'), { maxLength: 3 }),
  }),
  type: fc.oneof(
    { maxDepth: 6, withCrossShrink: true },
    fc.record({ kind: fc.constant('primitive' as const), name: fc.constantFrom(...PRIMITIVE_NAMES) }),
    fc.record({ kind: fc.constant('parameter' as const), index: fc.nat({ max: 99_999 }) }),
    fc.record({ kind: fc.constant('vector' as const), element: tie('type') }),
    fc.record({ kind: fc.constant('reference' as const), mutable: fc.boolean(), target: tie('type') }),
    tie('struct'),
  ),
}));

/** Returns the text with other white space and other spellings of its addresses. */
function respell(text: string, choices: readonly number[]): string {
  let index = 0;
  const choose = (count: number): number => (choices[index++ % choices.length] ?? 0) % count;
  const space = (): string => ['', ' ', '  ', '\t\n'][choose(4)] ?? '';
  const parts = text.match(/&mut |&|::|[<>,]|[A-Za-z0-9_$]+/g) ?? [];
  return parts
    .map((part, at) => (parts[at + 1] === '::' && part.startsWith('0x') ? respellAddress(part, choose(4)) : part))
    .map((part) => `${space()}${part}${space()}`)
    .join('');
}

function respellAddress(address: string, choice: number): string {
  const digits = address.slice(2);
  const shortened = digits.replace(/^0+(?=.)/, '');
  return [address, digits, `0x${shortened}`, shortened.toUpperCase()][choice] ?? address;
}

describe('a Move type', () => {
  it('is the same after printing and reading, whatever the spaces and the spelling of addresses', () => {
    fc.assert(
      fc.property(types, fc.array(fc.nat(), { minLength: 1 }), (type, choices) => {
        const text = formatMoveType(type);
        expect(parseMoveType(text)).toEqual(type);
        expect(parseMoveType(respell(text, choices))).toEqual(type);
      }),
    );
  });

  it('is read from arbitrary text or refused with its own error', () => {
    const pieces = fc.constantFrom(
      '0x1',
      '::',
      'coin',
      '<',
      '>',
      ',',
      ' ',
      '&',
      'mut',
      'vector',
      'u8',
      'T0',
      'é',
      '\0',
    );
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(pieces, { maxLength: 40 }).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(texts, (text) => {
        try {
          expect(parseMoveType(formatMoveType(parseMoveType(text)))).toEqual(parseMoveType(text));
        } catch (error) {
          expect(error).toBeInstanceOf(MoveTypeError);
        }
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['vector<', '>'],
    ['&', ''],
    ['0x1::a::B<', '>'],
  ])('nested deeper than allowed by %s is refused, to the allowed depth read', (open, close) => {
    const nested = (levels: number): string => `${open.repeat(levels)}u8${close.repeat(levels)}`;
    expect(() => parseMoveType(nested(NESTING_MAX))).not.toThrow();
    expect(() => parseMoveType(nested(NESTING_MAX + 1))).toThrow(MoveTypeError);
    expect(() => parseMoveType(nested(300_000))).toThrow(MoveTypeError);
  });

  it.each([
    ['', 'nothing'],
    ['0x1::coin', 'no "::"'],
    ['0x1::coin::', 'nothing'],
    ['0x1::coin::Coin<', 'nothing'],
    ['0x1::coin::Coin<>', 'nothing'],
    ['0x1::coin::Coin<u8', 'no ">"'],
    ['0x1::coin::Coin<u8>>', 'more text'],
    ['vector', 'no "<"'],
    ['vector<u8, u8>', 'no ">"'],
    ['0xg::coin::Coin', 'no address'],
    [`0x${'1'.repeat(65)}::coin::Coin`, 'no address'],
    ['0x1::2coin::Coin', 'no identifier'],
    ['u7', 'unknown'],
    ['|u64|u64', 'nothing'],
  ])('is not %j', (text, reason) => {
    expect(() => parseMoveType(text)).toThrow(reason);
  });

  it('names a megabyte of hostile text without trying alternatives', () => {
    expect(() => parseMoveType(`0x1::a::B<${'u8,'.repeat(350_000)}`)).toThrow(MoveTypeError);
    expect(() => parseMoveType(' '.repeat(1_000_000))).toThrow(MoveTypeError);
  });
});

describe('an address', () => {
  it.each([
    ['0x1', '1'],
    ['1', '1'],
    ['0X0aB', 'ab'],
    ['f'.repeat(64), 'f'.repeat(64)],
  ])('%s has one long form', (text, digits) => {
    expect(standardAddress(text)).toBe(`0x${digits.padStart(64, '0')}`);
  });

  it.each(['', '0x', '0xg', '1'.repeat(65), ' 0x1', '0x1\n'])('is not %j', (text) => {
    expect(standardAddress(text)).toBeNull();
  });
});
