import { parseAddress } from '@chainstead/core';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { describe, expect, it } from 'vitest';
import { addContract } from './add-contract.ts';
import { readDefinitions } from './contract-definition.ts';
import { removeContract } from './remove-contract.ts';
import { DECLARE, eth, event, input, MADE, SENT_TO_MANY, wanted } from './testing/wanted-deposits.ts';
import type { WantedContract } from './wanted-contract.ts';

const scratch = scratchOfFile();
const add = (name: string, changes: Partial<WantedContract>) =>
  addContract(scratch.database, wanted(name, changes));

describe('is refused', () => {
  const deep = (levels: number): object =>
    levels === 0 ? input('x', 'uint8') : { name: 't', type: 'tuple', components: [deep(levels - 1)] };
  const MANY = Array.from({ length: 257 }, (_, index) => event(`E${index}`));

  it.each<readonly [string, string, Partial<WantedContract>, string]>([
    [
      'a name in capitals',
      'Vault',
      {},
      '"Vault" is not a name for a contract. Use 1 to 24 lower-case letters, digits and underscores, with a letter in front',
    ],
    [
      'an empty name',
      '',
      {},
      '"" is not a name for a contract. Use 1 to 24 lower-case letters, digits and underscores, with a letter in front',
    ],
    [
      'a name with SQL',
      'a; DROP TABLE blocks',
      {},
      '"a; DROP TABLE blocks" is not a name for a contract. Use 1 to 24 lower-case letters, digits and underscores, with a letter in front',
    ],
    [
      'a long name',
      'a'.repeat(25),
      {},
      `"${'a'.repeat(25)}" is not a name for a contract. Use 1 to 24 lower-case letters, digits and underscores, with a letter in front`,
    ],
    [
      'a file without an ABI',
      'bad',
      { abi: { abi: 'none' } },
      'The file for bad contains no ABI. Give a JSON file with a list of ABI items, or an artifact of Foundry, Hardhat or Truffle',
    ],
    [
      'null',
      'bad',
      { abi: null },
      'The file for bad contains no ABI. Give a JSON file with a list of ABI items, or an artifact of Foundry, Hardhat or Truffle',
    ],
    [
      'an ABI without events',
      'bad',
      { abi: [{ type: 'function', name: 'f', inputs: [] }] },
      'The ABI of bad has no events. Skipped items: none',
    ],
    [
      'recursive tuples',
      'bad',
      { abi: [event('E', deep(10))] },
      'The ABI of bad has no events. Skipped items: tuples in more than 8 levels: 1',
    ],
    [
      'an unknown type',
      'bad',
      { abi: [event('E', input('x', 'uint7'))] },
      'The ABI of bad has no events. Skipped items: a type that no values are decoded of: 1',
    ],
    [
      'too many events',
      'bad',
      { abi: MANY },
      'The ABI of bad has 257 events. Choose at most 256 of them with --event',
    ],
    [
      'an event that it does not have',
      'bad',
      { events: ['Withdraw'] },
      'The ABI of bad has no event Withdraw. It has Deposit(address,address,uint256)',
    ],
    [
      'a parameter that it does not have',
      'bad',
      { indexed: ['shares'] },
      'No event has a parameter shares. Parameters are sender, owner, assets',
    ],
    [
      'an index of values of any size',
      'bad',
      { abi: [SENT_TO_MANY], indexed: ['to_'] },
      "to_ can't have an index, because its values may have any size. Index parameters of the types address, bool, bytes1 to bytes32, int and uint, or hashes of indexed parameters",
    ],
    [
      'a factory event without types',
      'bad',
      { factory: { of: null, event: 'Made', child: 'pair' } },
      `"Made" does not declare an event. ${DECLARE}`,
    ],
    [
      'a factory event with four indexed parameters',
      'bad',
      {
        factory: {
          ...{ of: null, child: 'a' },
          event: 'M(address indexed a, bool indexed b, bool indexed c, bool indexed d)',
        },
      },
      `"M(address indexed a, bool indexed b, bool indexed c, bool indexed d)" does not declare an event. ${DECLARE}`,
    ],
    [
      'a factory event with an unknown type',
      'bad',
      { factory: { of: null, event: 'Made(adress pair)', child: 'pair' } },
      `"Made(adress pair)" does not declare an event. ${DECLARE}`,
    ],
    [
      'a factory event with SQL',
      'bad',
      { factory: { of: null, event: 'Made(address a); DROP TABLE blocks', child: 'a' } },
      `"Made(address a); DROP TABLE blocks" does not declare an event. ${DECLARE}`,
    ],
    [
      'a child that is no parameter',
      'bad',
      { factory: { of: null, event: 'Made(address pair, uint8)', child: '__proto__' } },
      'Made has no parameter "__proto__". Choose one with --child: pair, one without a name',
    ],
    [
      'a child without a name',
      'bad',
      { factory: { of: null, event: 'Made()', child: '' } },
      'Made has no parameter "". Choose one with --child: it has none',
    ],
    [
      'a child that is a number',
      'bad',
      { factory: { of: null, event: 'Made(address pair, uint8 kind)', child: 'kind' } },
      'The parameter kind of Made has the type uint8. Choose a parameter of the type address with --child',
    ],
    [
      'a child that is a list',
      'bad',
      { factory: { of: null, event: 'Made(address[] pairs)', child: 'pairs' } },
      'The parameter pairs of Made has the type address[]. Choose a parameter of the type address with --child',
    ],
    [
      'factories of an unknown contract',
      'bad',
      { addresses: [], factory: { ...MADE, of: 'nothing' } },
      'There is no contract nothing with children on eth. Give addresses with --factory, or the name of a contract that was added with --factory',
    ],
    [
      'a contract that is its own factory',
      'bad',
      { addresses: [], factory: { ...MADE, of: 'bad' } },
      'There is no contract bad with children on eth. Give addresses with --factory, or the name of a contract that was added with --factory',
    ],
    [
      'too many addresses',
      'bad',
      {
        addresses: Array.from({ length: 1_001 }, (_, index) =>
          parseAddress(`0x${index.toString(16).padStart(40, '0')}`),
        ),
      },
      'bad has 1001 addresses. Use at most 1000 for a name',
    ],
  ])('%s', async (_what, name, changes, message) => {
    await expect(add(name, changes)).rejects.toMatchObject({ message });
    expect(await readDefinitions(scratch.database, 'bad')).toEqual([]);
  });

  it('the removal of an unknown name', async () => {
    await expect(removeContract(scratch.database, 'unknown', eth.id)).rejects.toMatchObject({
      message: 'There is no contract unknown on this chain. Run "chainstead contracts list" for the names',
    });
  });
});
