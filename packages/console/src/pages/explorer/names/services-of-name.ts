import type { NameService } from '@chainstead/names';

/** Returns services that may have a name: Unstoppable Domains names have no distinct endings. */
export function servicesOfName(name: string): readonly NameService[] {
  return name.endsWith('.eth') ? ['ens'] : ['ens', 'unstoppable'];
}
