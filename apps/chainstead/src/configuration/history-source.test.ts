import { describe, expect, it, test } from 'vitest';
import { parse, problemsOf } from '../testing/configuration-problems.ts';
import { chainKeys } from './chain-keys.ts';
import { factsOf } from './key-facts.ts';
import { redactValue } from './redaction.ts';

const eth = { CHAINS: 'eth', RPC_URLS_ETH: 'http://127.0.0.1:8545' };
const historyOf = (text: string) => parse({ ...eth, HISTORY_ETH: text }).configuration.chains[0]?.history;

describe('sources of history', () => {
  it('are read in their order, with keys apart from URLs', () => {
    const text =
      'portal:https://portal.sqd.dev, hypersync:https://to%2Fken@eth.hypersync.xyz,era:/var/lib/era,portal:http://key@10.0.0.1:8000/datasets/mine';
    expect(historyOf(text)).toEqual([
      { kind: 'portal', place: 'https://portal.sqd.dev/datasets/ethereum-mainnet', key: null },
      { kind: 'hypersync', place: 'https://eth.hypersync.xyz', key: 'to/ken' },
      { kind: 'era', place: '/var/lib/era', key: null },
      { kind: 'portal', place: 'http://10.0.0.1:8000/datasets/mine', key: 'key' },
    ]);
    expect(historyOf('')).toEqual([]);
  });

  test.each([
    ['https://portal.sqd.dev', 'neither portal:URL, hypersync:URL nor era:FOLDER'],
    ['portal:portal.sqd.dev', 'neither portal:URL, hypersync:URL nor era:FOLDER'],
    ['era:files', 'no absolute path'],
    ['era:/a,era:/a', 'contains an entry twice'],
  ])('%s is refused', (text, reason) => {
    const problems = problemsOf({ ...eth, HISTORY_ETH: text });
    expect(problems.map(({ key, problem }) => `${key} ${problem}`).join()).toContain(reason);
  });

  it('need a dataset for a chain of which none is known', () => {
    const mine = { CHAINS: 'mine', CHAIN_ID_MINE: '31337', RPC_URLS_MINE: 'http://127.0.0.1:8545' };
    const problems = problemsOf({ ...mine, HISTORY_MINE: 'portal:https://portal.sqd.dev' });
    expect(problems.map(({ problem }) => problem).join()).toContain('/datasets/NAME');
    const named = { ...mine, HISTORY_MINE: 'portal:https://portal.sqd.dev/datasets/mine' };
    expect(parse(named).configuration.chains[0]?.history).toHaveLength(1);
  });

  it('are printed without keys', () => {
    const facts = factsOf(chainKeys.shape.HISTORY);
    expect(redactValue('portal:https://key@portal.sqd.dev/datasets/secret,era:/var/lib/era', facts)).toBe(
      'portal:https://portal.sqd.dev,era:/var/lib/era',
    );
  });
});
