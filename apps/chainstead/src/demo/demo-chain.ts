import { type Address, parseAddress } from '@chainstead/core';
import { type DemoExchanges, deployDemoExchanges } from './demo-exchanges.ts';
import { compileDemoContracts } from './devnet/compile-solidity.ts';
import { type Devnet, type DevnetCall, startDevnet } from './devnet/devnet.ts';
import { deployMarket, type Market } from './market/market.ts';
import { at, createMarketScript, type MarketScript } from './market/market-script.ts';

export interface TradedChain {
  readonly devnet: Devnet;
  readonly wallets: readonly Address[];
  readonly market: Market;
  readonly script: MarketScript;
}

export interface DemoChain extends TradedChain {
  readonly tokens: readonly Address[];
  readonly exchanges: DemoExchanges;
  makeTraffic(rounds: number): Promise<void>;
  stop(): Promise<void>;
}

export const DEMO_CHAIN_ID = 31_337;
export const DEMO_CHAIN_NAME = 'devnet';
const WALLETS = 5;
const TOKENS = [
  ['Demo Dollar', 'DUSD', 6],
  ['Demo Ether', 'DETH', 18],
  ['Demo Point', 'DPT', 0],
] as const;
const SUPPLY_UNITS = 1_000_000n;
const DOLLARS = 2_500;
const ROUNDS_BETWEEN_MOVES = 4;
const MOODS = ['calm', 'curious', 'grumpy', 'sleepy', 'calm'];

/** Times of blocks that don't follow the clock. */
export interface DemoTimes {
  /** Unix seconds. */
  readonly firstTime: number;
  readonly secondsPerBlock: number;
}

export async function startDemoChain(times?: DemoTimes): Promise<DemoChain> {
  const contracts = await compileDemoContracts();
  const args = times === undefined ? [] : ['--timestamp', String(times.firstTime)];
  const devnet = await startDevnet({ chainId: DEMO_CHAIN_ID, args });
  try {
    if (times !== undefined) await devnet.client.setBlockTimestampInterval({ interval: times.secondsPerBlock });
    const wallets = devnet.accounts.slice(0, WALLETS);
    // One by one: the node gives nonces by mined transactions.
    const tokens: Address[] = [];
    for (const args of TOKENS) tokens.push(await devnet.deploy(contracts.DemoToken, args));
    const market = await deployMarket(devnet);
    const script = createMarketScript(devnet, market);
    await script.answerEtherPrice(DOLLARS);
    const { abi } = contracts.DemoToken;
    const call = (
      address: Address,
      functionName: string,
      args: readonly unknown[],
      from?: Address,
    ): DevnetCall => {
      return { address, abi, functionName, args, ...(from === undefined ? {} : { from }) };
    };
    for (const [index, token] of tokens.entries())
      for (const wallet of wallets)
        await devnet.send(call(token, 'mint', [wallet, SUPPLY_UNITS * 10n ** BigInt(TOKENS[index]?.[2] ?? 0)]));
    const [dollar, ether] = tokens;
    if (dollar === undefined || ether === undefined) throw new RangeError('The demo has two tokens to trade');
    const exchanges = await deployDemoExchanges(devnet, { dollar, ether, price: BigInt(DOLLARS) });
    let round = 0;
    const makeTraffic = async (rounds: number): Promise<void> => {
      for (let done = 0; done < rounds; done += 1, round += 1) {
        await exchanges.trade(round);
        for (const send of roundOfCalls(round, { tokens, wallets, call })) await devnet.send(send);
        if (round % ROUNDS_BETWEEN_MOVES === 0) {
          await script.moveAround();
          await script.answerEtherPrice(DOLLARS + round);
        }
        await devnet.send({
          ...market.cats,
          functionName: 'setMood',
          args: [BigInt(round + 1), at(MOODS, round)],
        });
        await script.sell(at(script.kinds, round));
      }
    };
    return { devnet, tokens, wallets, market, script, exchanges, makeTraffic, stop: () => devnet.stop() };
  } catch (error) {
    await devnet.stop();
    throw error;
  }
}

interface RoundWorld {
  readonly tokens: readonly Address[];
  readonly wallets: readonly Address[];
  call(address: Address, functionName: string, args: readonly unknown[], from?: Address): DevnetCall;
}

function roundOfCalls(round: number, { tokens, wallets, call }: RoundWorld): DevnetCall[] {
  const token = at(tokens, round);
  const from = at(wallets, round);
  const to = at(wallets, round + 1);
  const value = BigInt(round * 7 + 1);
  const stranger = parseAddress(`0x${(0xdead_0000 + round).toString(16).padStart(40, '0')}`);
  return [
    call(token, 'transfer', [to, value], from),
    call(at(tokens, round + 1), 'transfer', [from, value], from),
    call(token, 'mint', [to, value]),
    call(token, 'burn', [1n], from),
    call(at(tokens, round + 2), 'transferMany', [[to, at(wallets, round + 2), stranger], 0n], from),
  ];
}
