import type { NameService } from '@chainstead/names';

/** Services that may know a name: those of Unstoppable end in none that is told apart. */
export function servicesOfName(name: string): readonly NameService[] {
  return name.endsWith('.eth') ? ['ens'] : ['ens', 'unstoppable'];
}
