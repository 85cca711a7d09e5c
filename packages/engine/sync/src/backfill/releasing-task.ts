/** p-queue 9.3 keeps up to a hundred started tasks, and their items, in memory. */
export function releasing<Item extends object>(
  item: Item,
  run: (item: Item) => Promise<void>,
): () => Promise<void> {
  const held: { item: Item | null } = { item };
  return () => {
    const { item: taken } = held;
    held.item = null;
    return taken === null ? Promise.resolve() : run(taken);
  };
}
