import { type Address, parseAddress, ZERO_ADDRESS } from '@chainstead/core';
import { createSeededRandom } from '@chainstead/testkit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAddressFilter, TAIL_BYTES } from './address-filter.ts';

const address = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => parseAddress(`0x${Buffer.from(bytes).toString('hex')}`));

describe('address filter', () => {
  it('has every address that was added', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(address, fc.constant(ZERO_ADDRESS)), { maxLength: 3_000 }), (added) => {
        const filter = createAddressFilter();
        for (const one of added) filter.add(one);
        expect(added.every((one) => filter.mayHave(one))).toBe(true);
        expect(filter.size).toBe(new Set(added).size);
      }),
      { numRuns: 20 },
    );
  });

  it('has the same when they are added by their last bytes', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(address, fc.constant(ZERO_ADDRESS)), { maxLength: 300 }), (added) => {
        const filter = createAddressFilter();
        filter.addTails(
          Buffer.concat(added.map((one) => Buffer.from(one.slice(2), 'hex').subarray(-TAIL_BYTES))),
        );
        expect(added.every((one) => filter.mayHave(one))).toBe(true);
        for (const one of added) filter.add(one);
        expect(filter.size).toBe(new Set(added).size);
      }),
      { numRuns: 20 },
    );
  });

  it('has next to none of the others, small numbers included', () => {
    const random = createSeededRandom('address-filter');
    const other = (): Address => parseAddress(random.hex(20));
    const filter = createAddressFilter();
    for (let count = 0; count < 20_000; count++) filter.add(other());
    expect(Array.from({ length: 20_000 }, other).filter((one) => filter.mayHave(one))).toEqual([]);
    const numbers = Array.from({ length: 10_000 }, (_, n) =>
      parseAddress(`0x${n.toString(16).padStart(40, '0')}`),
    );
    expect(numbers.filter((one) => filter.mayHave(one))).toEqual([]);
  });

  it('reads addresses in any letter case, wherever they stand in a text', () => {
    const filter = createAddressFilter();
    const one = parseAddress('0x00000000219ab540356cbb839cbe05303d7705fa');
    filter.add(one);
    expect(filter.mayHave('0x00000000219ab540356cBB839Cbe05303d7705Fa')).toBe(true);
    expect(filter.mayHave(`0x${'0'.repeat(24)}${one.slice(2)}`, 26)).toBe(true);
    expect(filter.mayHave('0x00000000219ab540356cbb839cbe05303d7705fb')).toBe(false);
  });

  it('is empty at first', () => {
    expect(createAddressFilter().mayHave(ZERO_ADDRESS)).toBe(false);
  });
});
