/** Keys of features that this version validates and does not use yet, so that one file serves all versions. */
import { optional, withDefault } from './key-facts.ts';
import { listOf, plainText, urlOf, wholeNumber } from './values.ts';

const mainnet = aptosNetwork('mainnet');
const testnet = aptosNetwork('testnet');

export const laterKeys = {
  APTOS_DATASETS: withDefault(listOf(plainText.regex(/^[a-z-]+$/, 'holds something that is not a dataset name')), {
    group: 'Later features',
    description: 'Aptos datasets to index',
    allowed: 'a comma list of dataset names',
    example: 'coins',
    default: 'coins',
  }),
  APTOS_NODE_URL: mainnet.nodeUrl,
  APTOS_START_VERSION: mainnet.startVersion,
  APTOS_END_VERSION: mainnet.endVersion,
  APTOS_TESTNET_NODE_URL: testnet.nodeUrl,
  APTOS_TESTNET_START_VERSION: testnet.startVersion,
  APTOS_TESTNET_END_VERSION: testnet.endVersion,
};

function aptosNetwork(network: string) {
  const version = wholeNumber(0);
  return {
    nodeUrl: optional(urlOf('http:', 'https:'), {
      group: 'Later features',
      description: `REST API of an Aptos ${network} fullnode`,
      allowed: 'an http(s) URL',
      example: `https://api.${network}.aptoslabs.com/v1`,
      whenAbsent: `Aptos ${network} is not indexed`,
      isUrl: true,
    }),
    startVersion: optional(version, {
      group: 'Later features',
      description: `First Aptos ${network} transaction version to index`,
      allowed: 'a whole number from 0',
      example: '0',
      whenAbsent: 'the newest version at the first start',
    }),
    endVersion: optional(version, {
      group: 'Later features',
      description: `Last Aptos ${network} transaction version to index`,
      allowed: 'a whole number from 0',
      example: '1000000',
      whenAbsent: 'no end',
    }),
  };
}
