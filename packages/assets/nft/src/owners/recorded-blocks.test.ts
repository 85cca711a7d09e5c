/** Owners after recorded Ethereum blocks, compared to their logs. */

import { type Address, type Log, parseHash, ZERO_ADDRESS } from '@chainstead/core';
import { listRecordedBlocks, readRecordedLogs, recordedData } from '@chainstead/testkit';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import { nftTransfers } from '../transfers/dataset.ts';
import type { Move } from '../transfers/testing/example-moves.ts';
import { eth, openOwnersStage } from './testing/owners-stage.ts';

const { isMissing, title } = recordedData('data/evm');
const blocks = listRecordedBlocks().filter((folder) => /^ethereum\/\d+$/.test(folder));

const TRANSFER = parseHash('0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef');

/** By contract and id: its last receiver, decoded from the logs by hand. */
function newestReceivers(logs: readonly Log[]): ReadonlyMap<Address, ReadonlyMap<string, string>> {
  const found = new Map<Address, Map<string, string>>();
  for (const { address, topics } of logs) {
    const [kind, from, to, id] = topics;
    if (kind !== TRANSFER || from === to || to === undefined || id === undefined) continue;
    const ids = found.get(address) ?? new Map<string, string>();
    found.set(address, ids.set(BigInt(id).toString(), `0x${to.slice(26)}`));
  }
  return found;
}

function movesOf(logs: readonly Log[]): Move[] {
  return nftTransfers.decode(logs, { chain: eth, timestampOf: () => 0 }).map((row) => ({
    token: row.tokenAddress,
    id: BigInt(row.tokenId),
    from: row.fromAddress,
    to: row.toAddress,
    amount: BigInt(row.amount),
    ...(row.lastTokenId !== null && { last: BigInt(row.lastTokenId) }),
  }));
}

describe.skipIf(isMissing)(title('after a recorded block'), () => {
  const stage = stageOfFile(openOwnersStage);
  beforeEach(() => stage.empty());

  test('the owner of each ERC-721 in it is who received it last, and nobody else has it', async () => {
    let compared = 0;
    for (const folder of blocks) {
      const logs = readRecordedLogs(folder);
      const receivers = [...newestReceivers(logs)].slice(0, 8);
      const [first] = logs;
      if (receivers.length === 0 || first === undefined) continue;
      await stage.empty();
      await stage.cover(first.blockNumber, first.blockNumber);
      await stage.add(first.blockNumber, movesOf(logs));
      for (const [collection, ids] of receivers) {
        await stage.seen(collection, 'erc721');
        const held = [...ids].filter(([, to]) => to !== ZERO_ADDRESS);
        const expected = held.map(([id, to]) => `${id} ${to}`).toSorted();
        for (const list of [`${collection}/owners`, collection]) {
          const rows = (await stage.pages(`${list}?limit=100`)).flatMap(({ result }) => result);
          expect(rows.map((row) => `${row.token_id} ${row.owner_of}`).toSorted()).toEqual(expected);
        }
        compared += held.length;
      }
    }
    expect(compared).toBeGreaterThan(100);
  });
});
