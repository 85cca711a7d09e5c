import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hexToBytes } from '../rlp/rlp-text.ts';
import { RECORDINGS, readRecordedBlocks } from '../testing/recorded-blocks.ts';
import { SIGNED_TRANSACTIONS } from '../testing/signed-transactions.ts';
import { decodeTransaction } from './decode-transaction.ts';
import { recoverSenders } from './recover-sender.ts';
import { encodeTransaction } from './transaction-encoding.ts';

const hex = (length: number) =>
  fc
    .uint8Array({ minLength: length, maxLength: length })
    .map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`);
const quantity = (bits: number) =>
  fc.bigInt(0n, 2n ** BigInt(bits) - 1n).map((value) => `0x${value.toString(16)}`);
const accessList = fc.array(fc.record({ address: hex(20), storageKeys: fc.array(hex(32), { maxLength: 3 }) }), {
  maxLength: 3,
});
const signature = { yParity: fc.constantFrom('0x0', '0x1'), r: quantity(256), s: quantity(256) };
const call = {
  ...{ nonce: quantity(64), gas: quantity(64), value: quantity(256) },
  to: fc.option(hex(20)),
  input: fc.nat(80).chain(hex),
};
const fees = {
  chainId: quantity(32),
  maxFeePerGas: quantity(256),
  maxPriorityFeePerGas: quantity(64),
  accessList,
};
const transaction = fc.oneof(
  fc.record({
    ...{ type: fc.constant('0x0'), gasPrice: quantity(80), ...call, r: quantity(256), s: quantity(256) },
    v: quantity(40),
  }),
  fc.record({
    ...{ type: fc.constant('0x1'), gasPrice: quantity(80), chainId: quantity(32), accessList },
    ...{ ...call, ...signature },
  }),
  fc.record({ type: fc.constant('0x2'), ...fees, ...call, ...signature }),
  fc.record({
    ...{ type: fc.constant('0x3'), ...fees, ...call, ...signature, maxFeePerBlobGas: quantity(80) },
    blobVersionedHashes: fc.array(hex(32), { maxLength: 3 }),
  }),
  fc.record({
    ...{ type: fc.constant('0x4'), ...fees, ...call, ...signature },
    authorizationList: fc.array(
      fc.record({ chainId: quantity(32), address: hex(20), nonce: quantity(64), ...signature }),
      { maxLength: 3 },
    ),
  }),
);

describe('decoding a transaction', () => {
  it('reverses the encoding of each type', () => {
    fc.assert(
      fc.property(transaction, (json) => {
        const encoded = encodeTransaction(json);
        const decoded = encoded === null ? null : decodeTransaction(encoded);
        expect(decoded).toMatchObject(json);
        expect(decoded === null ? null : encodeTransaction(decoded)).toEqual(encoded);
      }),
    );
  });

  it('refuses what does not encode to the same bytes, and never throws', () => {
    const changes = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(transaction, changes, (json, places) => {
        const bytes = Buffer.from(encodeTransaction(json) ?? []);
        for (const [at, value] of places) bytes[at % bytes.length] = value;
        const decoded = decodeTransaction(bytes);
        if (decoded !== null) expect(encodeTransaction(decoded)).toEqual(bytes);
      }),
    );
  });

  it.each(SIGNED_TRANSACTIONS)('reads $name as it was signed', ({ json, raw }) => {
    const decoded = decodeTransaction(hexToBytes(raw));
    // Wallets write `v` of typed ones in several ways.
    const { v: _v, yParity: _parity, authorizationList: _list, ...shown } = json;
    expect(decoded).toMatchObject(shown);
    expect(encodeTransaction(decoded ?? {})).toEqual(hexToBytes(raw));
  });

  it.skipIf(RECORDINGS.isMissing)(
    RECORDINGS.title('gives the members and senders of recorded transactions'),
    async () => {
      let count = 0;
      for (const { block, faithful } of readRecordedBlocks()) {
        if (!faithful) continue;
        for (const recorded of block.transactions.slice(0, 20)) {
          const encoded = encodeTransaction(recorded);
          const decoded = encoded === null ? null : decodeTransaction(encoded);
          if (decoded === null || (recorded.r === '0x0' && recorded.s === '0x0')) continue;
          for (const [name, value] of Object.entries(decoded))
            if (recorded[name] !== undefined && name !== 'gasPrice') expect(recorded[name]).toEqual(value);
          expect(await recoverSenders([decoded])).toEqual([recorded.from]);
          count++;
        }
      }
      expect(count).toBeGreaterThan(500);
    },
  );
});
