import { use, useMemo } from 'react'
import type { LogStore } from '../data/logStore'
import { MAX_DRAWN, type Piece, type RowLayout } from './layout'

/** Without wrapping a row is a line of the screen. */
class Plain implements RowLayout {
  constructor(private readonly store: LogStore) {}

  get total(): number {
    return this.store.rows
  }

  at(line: number): Piece {
    return { row: line, from: 0, to: MAX_DRAWN }
  }

  top(row: number): number {
    return row
  }
}

let coming: Promise<typeof import('./wrappedRows')> | undefined

/** So many characters fit next to the numbers; 0: lines are not wrapped. */
export function useLayout(store: LogStore, columns: number): RowLayout {
  // The code that wraps lines is loaded only when lines are wrapped.
  if (columns) coming ??= import('./wrappedRows')
  const LayoutClass = columns ? use(coming!).WrappedRows : Plain
  return useMemo(() => new LayoutClass(store, columns), [store, columns, LayoutClass])
}
