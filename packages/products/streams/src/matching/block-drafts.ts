import { getOrCompute } from '@chainstead/core';
import type { CompiledStream } from './compile-stream.ts';
import { createMatchDraft, type MatchDraft } from './match-draft.ts';
import { UNITS_PER_ITEM, type WorkBudget } from './work-budget.ts';

export type BlockDrafts = ReturnType<typeof createBlockDrafts>;

/** If the items of a key, or of the block, exceed the budget, the stream with the most items of its key is deferred. */
export function createBlockDrafts({ perKey, perBlock, admitsOne = false }: WorkBudget) {
  const drafts = new Map<string, MatchDraft>();
  const keys = new Map<string, { items: number; readonly drafts: Set<MatchDraft> }>();
  const deferred = new Set<CompiledStream>();
  const [keyMax, blockMax] = [perKey / UNITS_PER_ITEM, perBlock / UNITS_PER_ITEM];
  let total = 0;

  function added(stream: CompiledStream, items: number): void {
    const ofKey = keys.get(stream.key);
    if (ofKey === undefined || deferred.has(stream)) return;
    total += items;
    ofKey.items += items;
    if (ofKey.items > keyMax) deferLargest(ofKey);
    else if (total > blockMax)
      deferLargest([...keys.values()].reduce((most, one) => (one.items > most.items ? one : most)));
  }

  function deferLargest(ofKey: { items: number; readonly drafts: Set<MatchDraft> }): void {
    const [first, ...others] = ofKey.drafts;
    if (first === undefined || (admitsOne && drafts.size === 1)) return;
    const largest = others.reduce((most, one) => (one.items() > most.items() ? one : most), first);
    ofKey.drafts.delete(largest);
    ofKey.items -= largest.items();
    total -= largest.items();
    drafts.delete(largest.stream.id);
    deferred.add(largest.stream);
  }

  return {
    deferred,
    all: () => drafts.values(),
    /** Null: deferred. */
    of(stream: CompiledStream): MatchDraft | null {
      if (deferred.has(stream)) return null;
      return getOrCompute(drafts, stream.id, () => {
        const draft = createMatchDraft(stream, (items) => added(stream, items));
        getOrCompute(keys, stream.key, () => ({ items: 0, drafts: new Set<MatchDraft>() })).drafts.add(draft);
        return draft;
      });
    },
  };
}
