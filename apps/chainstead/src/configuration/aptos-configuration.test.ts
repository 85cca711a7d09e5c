import { describe, expect, it } from 'vitest';
import { environmentSource, parseConfiguration } from './index.ts';

const aptosOf = (variables: Record<string, string>) =>
  parseConfiguration([environmentSource(variables)]).configuration.aptos;

describe('the configuration of Aptos', () => {
  it('is empty without a fullnode', () => {
    expect(aptosOf({})).toMatchObject({ datasets: ['coins'], networks: [] });
  });

  it('takes both networks side by side, each with its own fullnodes and range', () => {
    const aptos = aptosOf({
      APTOS_NODE_URL: 'https://a.example/v1, https://b.example',
      APTOS_API_KEY: 'key',
      APTOS_START_VERSION: '5',
      APTOS_TESTNET_NODE_URL: 'http://c.example',
      APTOS_TESTNET_END_VERSION: '6643353877',
      APTOS_DATASETS: 'transfers,coins',
    });
    expect(aptos).toMatchObject({
      datasets: ['transfers', 'coins'],
      networks: [
        {
          network: 'mainnet',
          fullnodes: ['https://a.example/v1', 'https://b.example'],
          apiKey: 'key',
          startVersion: 5,
          endVersion: null,
        },
        {
          network: 'testnet',
          fullnodes: ['http://c.example'],
          apiKey: null,
          startVersion: null,
          endVersion: 6_643_353_877,
        },
      ],
    });
  });

  it.each<[string, Record<string, string>]>([
    ['APTOS_NODE_URL', { APTOS_NODE_URL: 'ws://a.example' }],
    ['APTOS_DATASETS', { APTOS_DATASETS: 'coins,nfts' }],
    ['APTOS_START_VERSION', { APTOS_START_VERSION: '-1' }],
    ['APTOS_END_VERSION', { APTOS_START_VERSION: '10', APTOS_END_VERSION: '9' }],
    ['APTOS_TESTNET_END_VERSION', { APTOS_TESTNET_START_VERSION: '10', APTOS_TESTNET_END_VERSION: '9' }],
  ])('names %s when it is wrong', (key, variables) => {
    expect(() => aptosOf(variables)).toThrow(new RegExp(`^ {2}${key}="`, 'm'));
  });
});
