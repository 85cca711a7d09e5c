/** The history of a token's holders, over a real node. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type GoldStage, openGoldStage } from './testing/gold-stage.ts';

let stage: GoldStage;

beforeAll(async () => {
  stage = await openGoldStage();
});
afterAll(() => stage?.close());

interface HistoryAnswer {
  readonly cursor: string | null;
  readonly indexed: { readonly complete: boolean };
  readonly result: readonly {
    readonly timestamp: string;
    readonly totalHolders: number;
    readonly netHolderChange: number;
  }[];
}

async function historyOf(query: string): Promise<HistoryAnswer> {
  const { status, body } = await stage.ask(`erc20/${stage.gold.address}/holders/historical?${query}`);
  expect(status).toBe(200);
  return body as HistoryAnswer;
}

describe('the history of holders', () => {
  const shown = ({ result }: HistoryAnswer) =>
    result.map(({ timestamp, totalHolders, netHolderChange }) => [
      Date.parse(timestamp) / 1_000 - stage.begun,
      totalHolders,
      netHolderChange,
    ]);

  test('has every interval, newest first', async () => {
    const answer = await historyOf(`fromDate=${stage.begun - 60}&toDate=${stage.begun + 239}&timeFrame=1min`);
    expect(shown(answer)).toEqual([
      [180, 29, 26],
      [120, 3, 0],
      [60, 3, 2],
      [0, 1, 1],
      [-60, 0, 0],
    ]);
    expect(answer).toMatchObject({ page: 1, pageSize: 100, cursor: null, indexed: { complete: true } });
    expect(answer.result[0]).toMatchObject({
      holderPercentChange: (100 * 26) / 3,
      newHoldersByAcquisition: { swap: 0, transfer: 1, airdrop: 25 },
      holdersOut: { whales: 0, shrimps: 0 },
    });
  });

  test('is the same page by page', async () => {
    const query = `fromDate=${stage.begun - 60}&toDate=${stage.begun + 239}&timeFrame=1min`;
    const rows: unknown[] = [];
    for (let page = await historyOf(`${query}&limit=1`); ; ) {
      rows.push(...shown(page));
      if (page.cursor === null) break;
      page = await historyOf(`cursor=${page.cursor}`);
    }
    expect(rows).toEqual(shown(await historyOf(query)));
  });

  test('adds up over longer intervals, and ends with the newest block', async () => {
    const answer = await historyOf(`fromDate=${stage.begun - 86_400}&toDate=${stage.begun + 10 * 86_400}&timeFrame=1d`);
    expect(answer.result.reduce((sum, { netHolderChange }) => sum + netHolderChange, 0)).toBe(29);
    expect(answer.result[0]?.totalHolders).toBe(29);
    expect(answer.result.length).toBeLessThanOrEqual(3);
  });
});
