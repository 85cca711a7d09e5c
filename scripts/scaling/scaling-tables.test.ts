import { describe, expect, it } from 'vitest';
import { FAST, LOCK, PROVEN } from './measured-figures.ts';
import { renderScalingDocument } from './scaling-document.ts';
import { logsPerSecond } from './scaling-tables.ts';

describe('the figures of docs/scaling.md', () => {
  it('grow with the cores until commits under the lock of the chain are all that happens', () => {
    const perCore = logsPerSecond(1, PROVEN);
    expect(logsPerSecond(2, PROVEN)).toBeCloseTo(2 * perCore);
    expect(logsPerSecond(1_000_000, FAST)).toBeCloseTo(1_000_000 / LOCK.transfers);
    expect(logsPerSecond(1, PROVEN)).toBeLessThan(logsPerSecond(1, FAST));
  });

  it('are put where the document has places for them, as often as one likes, and nowhere else', () => {
    const place = (name: string) => `<!-- computed: ${name} -->\nold\n<!-- end -->`;
    const document = ['before', place('parts'), 'between', place('cores'), place('chains'), 'after'].join('\n');
    const once = renderScalingDocument(document);
    expect(once).toMatch(/^before\n[\s\S]*between[\s\S]*after$/);
    expect(once).not.toContain('old');
    expect(once).toMatch(/Ethereum/);
    expect(renderScalingDocument(once)).toBe(once);
    expect(() => renderScalingDocument('nothing')).toThrow(/no place for the table parts/);
  });
});
