import { describe, expect, it } from 'vitest';
import { renderTable } from './text-table.ts';

describe('renderTable', () => {
  it('aligns text to the left and numbers to the right', () => {
    const rows = [
      ['eth', 1_234_567],
      ['base-sepolia', 8],
    ];
    expect(renderTable(['chain', 'blocks'], rows).split('\n')).toEqual([
      'chain            blocks',
      'eth           1,234,567',
      'base-sepolia          8',
      '',
    ]);
  });

  it('of nothing is its header', () => {
    expect(renderTable(['chain', 'blocks'], [])).toBe('chain  blocks\n');
  });
});
