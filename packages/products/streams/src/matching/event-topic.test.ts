import { describe, expect, test } from 'vitest';
import { topicOf, topicOfEvent } from './compile-stream.ts';
import { ERC20_TRANSFER, eventItem } from './testing/example-stream.ts';

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

describe('topic0 of a signature', () => {
  test.each([
    'Transfer(address,address,uint256)',
    ' Transfer(address, address , uint256) ',
    'Transfer(address,address,uint)',
    'Transfer(address indexed from, address indexed to, uint256 value)',
    'event Transfer(address indexed from, address to, uint256)',
    TRANSFER.toUpperCase().replace('0X', '0x'),
  ])('%s is ERC-20 Transfer', (signature) => {
    expect(topicOf(signature)).toBe(TRANSFER);
  });

  test('tuples and arrays are part of it', () => {
    expect(topicOf('Filled((uint256,bool)[] items, bytes32[2])')).toBe(
      topicOf('Filled((uint256,bool)[],bytes32[2])'),
    );
    expect(topicOf('Filled((uint,bool)[],bytes32[2])')).toBe(topicOf('Filled((uint256,bool)[],bytes32[2])'));
    expect(topicOf('Filled((uint256,bool)[],bytes32[2])')).not.toBe(topicOf('Filled((uint256,bool),bytes32[2])'));
  });

  test.each([
    '',
    'Transfer',
    '0x1234',
    'Transfer(adress)',
    'Transfer(uint7)',
    'Transfer(address',
    'a(b)c',
    '🦄(address)',
  ])('%j is none', (signature) => {
    expect(topicOf(signature)).toBeNull();
  });
});

describe('topic0 of an ABI item', () => {
  test('is the hash of its canonical signature', () => {
    expect(topicOfEvent(ERC20_TRANSFER)).toBe(TRANSFER);
    const order = eventItem('event Filled((uint256 amount, bool done)[] items, bytes32 id)');
    expect(topicOfEvent(order)).toBe(topicOf('Filled((uint256,bool)[],bytes32)'));
  });

  test.each([
    { ...ERC20_TRANSFER, anonymous: true },
    { ...ERC20_TRANSFER, type: 'function' },
    { type: 'event' },
    { type: 'event', name: 'Odd', inputs: [{ name: 'x', type: 'adress' }] },
    { type: 'event', name: 'Odd', inputs: [{ name: 'x', type: 'tuple' }] },
  ])('$name of type $type without one has none', (item) => {
    expect(topicOfEvent(item)).toBeNull();
  });
});
