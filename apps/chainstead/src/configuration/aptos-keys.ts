import { APTOS_DATASET_NAMES } from '@chainstead/aptos/datasets';
import { keysOf } from './key-facts.ts';
import { httpUrls, listOf, oneOf, plainText, wholeNumber } from './values.ts';

const { optional, withDefault } = keysOf('Aptos');

const PORT_MAX = 65_535;

const mainnet = aptosNetwork('mainnet');
const testnet = aptosNetwork('testnet');

export const aptosKeys = {
  APTOS_DATASETS: withDefault(listOf(oneOf(...APTOS_DATASET_NAMES)), {
    description: 'Aptos datasets to index. Transfers and holders are far larger than the coins',
    allowed: `a comma list of ${APTOS_DATASET_NAMES.join(', ')}`,
    example: 'coins,transfers,holders',
    default: 'coins',
  }),
  APTOS_NODE_URL: mainnet.nodeUrl,
  APTOS_API_KEY: mainnet.apiKey,
  APTOS_START_VERSION: mainnet.startVersion,
  APTOS_END_VERSION: mainnet.endVersion,
  APTOS_TESTNET_NODE_URL: testnet.nodeUrl,
  APTOS_TESTNET_API_KEY: testnet.apiKey,
  APTOS_TESTNET_START_VERSION: testnet.startVersion,
  APTOS_TESTNET_END_VERSION: testnet.endVersion,
  APTOS_TESTNET_PORT: optional(wholeNumber(1, PORT_MAX), {
    description: 'Second API port. On this port, an Aptos request without a network uses testnet',
    example: '8081',
    whenAbsent: 'no second port',
  }),
};

function aptosNetwork(network: string) {
  const version = wholeNumber(0);
  return {
    nodeUrl: optional(httpUrls, {
      description: `REST APIs of Aptos ${network} fullnodes, with or without /v1. With two or more, Chainstead fails over between them and compares their ledgers`,
      example: `https://api.${network}.aptoslabs.com/v1`,
      whenAbsent: `Aptos ${network} is not indexed`,
      isUrl: true,
    }),
    apiKey: optional(plainText, {
      description: `API key for the Aptos ${network} fullnodes, sent as Authorization: Bearer`,
      allowed: 'any text',
      example: 'aptoslabs_abc123',
      whenAbsent: 'no key is sent',
      isSecret: true,
    }),
    startVersion: optional(version, {
      description: `First Aptos ${network} transaction version to index`,
      example: '0',
      whenAbsent: 'the newest version at the first start',
    }),
    endVersion: optional(version, {
      description: `Last Aptos ${network} transaction version to index`,
      example: '1000000',
      whenAbsent: 'no end',
    }),
  };
}
