import fc from 'fast-check';
import { Kind, parse, print } from 'graphql/index.js';
import { expect, test } from 'vitest';
import { createMeasure, type Size } from './operation.ts';

/** A selection by the numbers of its fields: a number is a fragment, a list a field with fields. */
const { selection } = fc.letrec<{ selection: readonly unknown[] }>((tie) => ({
  selection: fc.array(fc.oneof({ depthSize: 'small' }, fc.constantFrom(0, 1, 2), tie('selection')), {
    minLength: 1,
    maxLength: 4,
  }),
}));

function textOf(selections: readonly unknown[], firstFragment: number): string {
  const texts = selections.map((one, index) => {
    if (typeof one === 'number') return one < firstFragment ? `a${index}` : `...f${one}`;
    const inner = one as readonly unknown[];
    return index % 3 === 2
      ? `... { ${textOf(inner, firstFragment)} }`
      : `a${index} { ${textOf(inner, firstFragment)} }`;
  });
  return texts.join(' ');
}

/** Counts with all fragments in place. */
function sizeOf(
  selections: readonly unknown[],
  firstFragment: number,
  fragments: readonly (readonly unknown[])[],
): Size {
  const sizes = selections.map((one, index): Size => {
    if (typeof one === 'number')
      return one < firstFragment ? { fields: 1, depth: 1 } : sizeOf(fragments[one] ?? [], one + 1, fragments);
    const inner = sizeOf(one as readonly unknown[], firstFragment, fragments);
    return index % 3 === 2 ? inner : { fields: inner.fields + 1, depth: inner.depth + 1 };
  });
  return {
    fields: sizes.reduce((sum, { fields }) => sum + fields, 0),
    depth: Math.max(...sizes.map(({ depth }) => depth)),
  };
}

test('the size of a selection is that with all fragments in place', () => {
  fc.assert(
    fc.property(selection, selection, selection, selection, (operation, ...given) => {
      // A fragment has later ones only, so none contains itself.
      const texts = given.map((one, index) => `fragment f${index} on Query { ${textOf(one, index + 1)} }`);
      const document = parse(`{ ${textOf(operation, 0)} } ${texts.join(' ')}`);
      const fragments = new Map(
        document.definitions.flatMap((one) =>
          one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one] as const] : [],
        ),
      );
      const [definition] = document.definitions;
      if (definition?.kind !== Kind.OPERATION_DEFINITION) throw new RangeError(print(document));
      expect(createMeasure(fragments)(definition.selectionSet)).toEqual(sizeOf(operation, 0, given));
    }),
  );
});
