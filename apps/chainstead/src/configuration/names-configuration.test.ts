import { describe, expect, it } from 'vitest';
import { environmentSource, parseConfiguration } from './index.ts';

const parse = (variables: Record<string, string>) => parseConfiguration([environmentSource(variables)]);
const chainsOf = (variables: Record<string, string>) =>
  parse(variables).configuration.names.chains.map(({ chain, upstreams }) => [
    chain.key,
    upstreams?.map(({ url }) => url) ?? null,
  ]);

describe('names', () => {
  it('are read from no chain unless it is indexed, or nodes are given for them', () => {
    expect(chainsOf({})).toEqual([]);
    expect(chainsOf({ CHAINS: 'arbitrum' })).toEqual([]);
    expect(chainsOf({ CHAINS: 'eth' })).toEqual([['eth', null]]);
    const given = { NAMES_RPC_ETH: 'https://a.example,https://b.example', NAMES_RPC_BASE: 'http://c.example' };
    expect(chainsOf(given)).toEqual([
      ['eth', ['https://a.example', 'https://b.example']],
      ['base', ['http://c.example']],
    ]);
    expect(chainsOf({ ...given, CHAINS: 'eth,polygon' })).toEqual([
      ['eth', ['https://a.example', 'https://b.example']],
      ['polygon', null],
      ['base', ['http://c.example']],
    ]);
  });

  it('leave gateways alone, and ask the documented resolver, unless told otherwise', () => {
    expect(parse({}).configuration.names).toMatchObject({
      asksGateways: false,
      universalResolver: '0xeeeeeeee14d718c2b47d9923deab1335e144eeee',
    });
    const own = '0x5fbdb2315678afecb367f032d93f642f64180aa3';
    expect(parse({ ENS_GATEWAYS: 'on', ENS_UNIVERSAL_RESOLVER: own }).configuration.names).toMatchObject({
      asksGateways: true,
      universalResolver: own,
    });
    expect(() => parse({ ENS_GATEWAYS: 'maybe', NAMES_RPC_ETH: 'ws://a.example' })).toThrow(
      /ENS_GATEWAYS[\s\S]*|NAMES_RPC_ETH/,
    );
  });
});
