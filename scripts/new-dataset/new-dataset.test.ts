import { describe, expect, test } from 'vitest';
import { describeDataset } from './dataset-names.ts';
import { newDatasetFiles, withManifestLine } from './new-dataset-files.ts';
import { parseEvent } from './parse-event.ts';

const DEPOSIT = 'Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares)';

describe('an event', () => {
  test('is read with its signature, columns and types', () => {
    expect(parseEvent('event Moved(address indexed from, uint tokenId, bytes32 _ref, bool)')).toEqual({
      name: 'Moved',
      signature: 'Moved(address,uint256,bytes32,bool)',
      declaration: 'event Moved(address indexed from, uint256 tokenId, bytes32 ref, bool value4)',
      parameters: [
        { name: 'from', column: 'from_value', type: 'address', isIndexed: true },
        { name: 'tokenId', column: 'token_id', type: 'uint', isIndexed: false },
        { name: 'ref', column: 'ref', type: 'bytes32', isIndexed: false },
        { name: 'value4', column: 'value4', type: 'bool', isIndexed: false },
      ],
    });
  });

  test.each([
    ['Deposit', 'is no event'],
    ['Named(string name)', '"string name" can\'t be stored'],
    ['Four(address indexed a, address indexed b, address indexed c, address indexed d)', 'over 3 indexed'],
  ])('%s is refused', (text, message) => {
    expect(() => parseEvent(text)).toThrow(message);
  });
});

describe('a new dataset', () => {
  test('has the topic0 of its event, and is listed by the first indexed address', () => {
    const { topic, topicName, table, camel, account, others } = describeDataset('vault-deposits', parseEvent(DEPOSIT));
    // cast keccak 'Deposit(address,address,uint256,uint256)'
    expect(topic).toBe('0xdcbc1c05240f31ff3ad067ef1ee35ce4997762752e3a095284754544f4c709d7');
    expect([topicName, table, camel, account?.name]).toEqual([
      'DEPOSIT_TOPIC',
      'vault_deposits',
      'vaultDeposits',
      'sender',
    ]);
    expect(others.map(({ name }) => name)).toEqual(['owner', 'assets', 'shares']);
  });

  test('with a bad name is refused', () => {
    expect(() => describeDataset('Vault Deposits', parseEvent(DEPOSIT))).toThrow('is no name of a dataset');
  });

  test('is a folder of files and a line', () => {
    const dataset = describeDataset('vault-deposits', parseEvent(DEPOSIT));
    expect(newDatasetFiles(dataset).map(({ path }) => path)).toEqual([
      ...['schema.ts', 'analytics.sql', 'decode.ts', 'manifest.ts', 'endpoint.ts', 'route.ts'],
      ...['testing/example-event.ts', 'decode.test.ts', 'route.test.ts', 'rows.explain.test.ts'],
    ]);
    expect(withManifestLine('', dataset)).toBe("export { vaultDeposits } from './vault-deposits/manifest.ts';\n");
  });
});
