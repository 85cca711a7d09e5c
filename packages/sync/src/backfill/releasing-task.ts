/**
 * A task that releases its item when it starts. Queues keep up to a hundred started tasks while others wait (p-queue
 * 9.3), and would keep their items in memory.
 */
export function releasing<Item extends object>(item: Item, run: (item: Item) => Promise<void>): () => Promise<void> {
  const held: { item: Item | null } = { item };
  return () => {
    const { item: taken } = held;
    held.item = null;
    return taken === null ? Promise.resolve() : run(taken);
  };
}
