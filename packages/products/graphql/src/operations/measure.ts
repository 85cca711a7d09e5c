import type { FieldNode, FragmentDefinitionNode, SelectionNode, SelectionSetNode } from 'graphql/index.js';
import { GraphqlRefusalError } from '../refusal.ts';

export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

export interface Size {
  readonly fields: number;
  readonly depth: number;
}

/** Measures a fragment once. @throws GraphqlRefusalError if one contains itself */
export function createMeasure(fragments: Fragments): (selections: SelectionSetNode | undefined) => Size {
  const measured = new Map<string, Size>();
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
    const earlier = measured.get(name);
    if (earlier !== undefined) return earlier;
    if (open.has(name)) {
      const message = `The fragment ${name.slice(0, NAME_LENGTH_MAX)} contains itself`;
      throw new GraphqlRefusalError('GRAPHQL_INVALID', message, 'Remove the fragment from its own fields.');
    }
    open.add(name);
    const size = sizeOf(fragments.get(name)?.selectionSet);
    open.delete(name);
    measured.set(name, size);
    return size;
  }

  return sizeOf;
}

/** Measure first: the list may be long. */
export function fieldsOf(selections: SelectionSetNode, fragments: Fragments): readonly FieldNode[] {
  return selections.selections.flatMap((selection): readonly FieldNode[] => {
    if (selection.kind === 'Field') return [selection];
    const inner =
      selection.kind === 'FragmentSpread'
        ? fragments.get(selection.name.value)?.selectionSet
        : selection.selectionSet;
    return inner === undefined ? [] : fieldsOf(inner, fragments);
  });
}

const NAME_LENGTH_MAX = 100;
