import type { Address } from '@chainstead/core';
import { addressOf, closeOf } from '@chainstead/testkit';
import { expect } from 'vitest';
import { type HolderStage, openHolderStage } from './holder-stage.ts';

export const [ALICE, BOB, CAROL] = [addressOf(0xa11ce), addressOf(0xb0b), addressOf(0xca201)];

interface OwnerRow {
  readonly owner_address: Address;
  readonly balance: string;
}

/** A page of owners in the API's form. */
export interface OwnersAnswer {
  readonly cursor: string | null;
  readonly indexed: { readonly complete: boolean };
  readonly total_supply: string | null;
  readonly result: readonly OwnerRow[];
}

/** 29 accounts received gold in the first, second and fourth of four minutes; spam emits transfers to 150 accounts. */
export interface GoldStage extends HolderStage {
  /** Time of the first gold block, a full minute. Unix seconds. */
  readonly begun: number;
  ownersOf(token: Address, query?: string): Promise<OwnersAnswer>;
  /** Returns all pages. */
  allOwnersOf(token: Address, query: string): Promise<OwnerRow[]>;
}

const MINUTE_SECONDS = 60;

export async function openGoldStage(onDemand?: Parameters<typeof openHolderStage>[0]): Promise<GoldStage> {
  await using parts = new AsyncDisposableStack();
  const stage = parts.adopt(await openHolderStage(onDemand), (one) => one.close());
  const { gold, spam, devnet } = stage;
  const { timestamp } = await devnet.client.getBlock();
  const begun = (Math.floor(Number(timestamp) / MINUTE_SECONDS) + 10) * MINUTE_SECONDS;
  const atMinute = (minutes: number): Promise<void> =>
    devnet.client.setNextBlockTimestamp({ timestamp: BigInt(begun + minutes * MINUTE_SECONDS) });
  await atMinute(0);
  await gold.call('mint', devnet.accounts[0], 1_000_000_000n);
  await atMinute(1);
  await gold.call('transfer', ALICE, 500_000n);
  await gold.call('transfer', BOB, 700_000n);
  await atMinute(3);
  await gold.call(
    'transferMany',
    Array.from({ length: 25 }, (_, place) => addressOf(0x1000 + place)),
    1_000n,
  );
  await gold.call('transfer', gold.address, 5n);
  await spam.call('shout', 0x2000n, 150n);
  await stage.follow();
  const ownersOf: GoldStage['ownersOf'] = async (token, query = '') => {
    const { status, body } = await stage.ask(`erc20/${token}/owners${query}`);
    expect(status).toBe(200);
    return body as OwnersAnswer;
  };
  return {
    ...stage,
    begun,
    ownersOf,
    async allOwnersOf(token, query) {
      const rows: OwnerRow[] = [];
      for (let page = await ownersOf(token, query); ; ) {
        rows.push(...page.result);
        if (page.cursor === null) return rows;
        page = await ownersOf(token, `?cursor=${page.cursor}`);
      }
    },
    ...closeOf(parts),
  };
}
