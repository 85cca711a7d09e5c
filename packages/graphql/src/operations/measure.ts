import type { FieldNode, FragmentDefinitionNode, SelectionNode, SelectionSetNode } from 'graphql/index.js';
import { GraphqlRefusalError } from '../refusal.ts';

export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/** Size of a selection with its fragments in place. */
export interface Size {
  readonly fields: number;
  readonly depth: number;
}

/**
 * Returns a function from a selection to its size. A fragment is measured once, so that fragments of fragments cost nothing.
 * @throws GraphqlRefusalError if a fragment contains itself
 */
export function createMeasure(fragments: Fragments): (selections: SelectionSetNode | undefined) => Size {
  const known = new Map<string, Size>();
  const open = new Set<string>();

  function sizeOf(selections: SelectionSetNode | undefined): Size {
    let [fields, depth] = [0, 0];
    for (const selection of selections?.selections ?? []) {
      const size = sizeOfSelection(selection);
      fields += size.fields;
      depth = Math.max(depth, size.depth);
    }
    return { fields, depth };
  }

  function sizeOfSelection(selection: SelectionNode): Size {
    if (selection.kind === 'FragmentSpread') return sizeOfFragment(selection.name.value);
    const { fields, depth } = sizeOf(selection.selectionSet);
    return selection.kind === 'Field' ? { fields: fields + 1, depth: depth + 1 } : { fields, depth };
  }

  function sizeOfFragment(name: string): Size {
    const found = known.get(name);
    if (found !== undefined) return found;
    if (open.has(name)) throw cycle(name);
    open.add(name);
    const size = sizeOf(fragments.get(name)?.selectionSet);
    open.delete(name);
    known.set(name, size);
    return size;
  }

  return sizeOf;
}

/** Returns the fields of a selection itself, with those of its fragments. Measure it first: the list may be long. */
export function fieldsOf(selections: SelectionSetNode, fragments: Fragments): readonly FieldNode[] {
  return selections.selections.flatMap((selection): readonly FieldNode[] => {
    if (selection.kind === 'Field') return [selection];
    const inner =
      selection.kind === 'FragmentSpread' ? fragments.get(selection.name.value)?.selectionSet : selection.selectionSet;
    return inner === undefined ? [] : fieldsOf(inner, fragments);
  });
}

function cycle(name: string): GraphqlRefusalError {
  return new GraphqlRefusalError(
    'GRAPHQL_INVALID',
    `The fragment ${name.slice(0, NAME_LENGTH_MAX)} contains itself`,
    'Remove the fragment from its own fields.',
  );
}

/** Names come from the client. Characters. */
const NAME_LENGTH_MAX = 100;
