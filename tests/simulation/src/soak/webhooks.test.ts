import { keccak256Hex } from '@chainstead/core';
import { createScriptedChain, type ReceivedWebhook, type ScriptedChain } from '@chainstead/testkit';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  type BlockWebhook,
  type ExpectedWebhooks,
  missingWebhooks,
  readWebhook,
  wrongWebhooks,
} from './webhooks.ts';

let chain: ScriptedChain;
let expected: ExpectedWebhooks;
beforeEach(() => {
  chain = createScriptedChain({ seed: 1 });
  chain.mine(20);
  const watched = new Map(chain.tokens.map(({ address }, place) => [`stream-${place}`, address]));
  expected = { chain, from: 3, confirmations: 5, watched };
});

/** Every webhook that is expected now. */
function everyWebhook(): BlockWebhook[] {
  return missingWebhooks([], expected).map((key) => {
    const [kind, blockHash = '', streamId = ''] = key.split(' ');
    return { streamId, blockHash, confirmed: kind === 'confirmed', retries: 0, isSigned: true };
  });
}

const wrongOf = (webhooks: readonly BlockWebhook[]) =>
  Object.fromEntries(wrongWebhooks(webhooks, expected).wrong);

describe('readWebhook', () => {
  it('checks the signature, and skips the test webhook', () => {
    const read = (hash: string, secret: string) => {
      const body = JSON.stringify({ streamId: 's', confirmed: true, retries: 2, block: { hash }, logs: [] });
      const headers = { 'x-signature': keccak256Hex(Buffer.from(`${body}secret`)) };
      return readWebhook({ body, headers } as unknown as ReceivedWebhook, secret);
    };
    expect(read('0x1', 'secret')).toEqual({
      streamId: 's',
      blockHash: '0x1',
      confirmed: true,
      retries: 2,
      isSigned: true,
    });
    expect(read('0x1', 'other')?.isSigned).toBe(false);
    expect(read('', 'secret')).toBeNull();
  });
});

describe('missingWebhooks', () => {
  it('is every webhook from the first block on, confirmed ones of blocks that are deep enough', () => {
    const hashes = (confirmed: boolean) =>
      new Set(everyWebhook().flatMap((one) => (one.confirmed === confirmed ? [one.blockHash] : [])));
    const withLogs = (to: number) =>
      new Set(
        chain.blocksIn({ from: 3, to }).flatMap(({ hash, transfers }) => (transfers.length > 0 ? [hash] : [])),
      );
    expect(withLogs(20).size).toBeGreaterThan(10);
    expect(withLogs(20).difference(hashes(false)).size).toBe(0);
    expect(withLogs(15).difference(hashes(true)).size).toBe(0);
    expect(hashes(true).has(chain.blockAt(16)?.hash ?? '')).toBe(false);
  });

  it('is empty once all have arrived, and names one that is lost', () => {
    const [lost, ...others] = everyWebhook();
    expect(missingWebhooks([...(lost === undefined ? [] : [lost]), ...others], expected)).toEqual([]);
    expect(missingWebhooks(others, expected)).toEqual([`unconfirmed ${lost?.blockHash} ${lost?.streamId}`]);
  });

  it('expects nothing of a block that left the chain', () => {
    const before = everyWebhook();
    chain.reorg(4, 1);
    expect(missingWebhooks(before, expected).every((key) => key.includes(chain.blockAt(17)?.hash ?? '-'))).toBe(
      true,
    );
  });
});

describe('wrongWebhooks', () => {
  it('finds nothing in what is expected, and nothing in retries', () => {
    const all = everyWebhook();
    const retries = all.map((one) => ({ ...one, retries: 1 }));
    expect(wrongWebhooks([...all, ...retries], expected)).toEqual({ wrong: new Map(), repeated: 0 });
  });

  it('names a repetition, an unknown block, a wrong signature and a confirmed webhook of an abandoned branch', () => {
    const one = everyWebhook().findLast(({ confirmed }) => !confirmed);
    if (one === undefined) throw new Error('No block has anything for a stream');
    expect(wrongWebhooks([one, one], expected)).toEqual({ wrong: new Map(), repeated: 1 });
    expect(wrongOf([{ ...one, blockHash: '0x1' }])).toEqual({ 'nothing to report': 1 });
    expect(wrongOf([{ ...one, isSigned: false }])).toEqual({ 'wrong signature': 1 });
    chain.reorg(10);
    expect(wrongOf([one])).toEqual({});
    expect(wrongOf([{ ...one, confirmed: true }])).toEqual({ 'confirmed, of an abandoned branch': 1 });
  });
});
