import { describe, expect, it } from 'vitest';
import { findingsOf, quotable, worstVerdict } from './finding.ts';

describe('findings', () => {
  const disk = findingsOf('disk');
  const fine = disk.ok('half of it is free');
  const low = disk.warning('5 % is free', 'Writes end soon.', 'Add space.');
  const full = disk.bad('nothing is free', 'Nothing can be written.', 'Add space.');

  it.each([
    [[], 'ok'],
    [[fine, fine], 'ok'],
    [[fine, low], 'warning'],
    [[low, full, fine], 'bad'],
  ])('are as bad as the worst of them', (findings, worst) => {
    expect(worstVerdict(findings)).toBe(worst);
  });

  it('quote strangers without what moves a cursor or turns a text, and cut them', () => {
    expect(quotable('Geth\u001b[2J\r\n/v1.15 \u202edrow')).toBe('Geth [2J /v1.15  drow');
    expect(quotable('x'.repeat(1_000_000))).toHaveLength(300);
    expect(quotable(`${'x'.repeat(298)}\u{1f600}y`).isWellFormed()).toBe(true);
  });
});
