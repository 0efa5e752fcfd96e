import { Button, Group, Paper, Text } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { type LucideIcon, Plus } from 'lucide-react'
import type { ReactNode } from 'react'
import { useKeys } from '../../app/keys'
import { Go, useGo } from '../AppLink'
import { Empty } from '../layout/EmptyState'
import { Loaded } from '../layout/QueryResult'
import { useRowKeys } from './rowKeys'
import { Find, NoneFits, useSought } from './SearchField'

interface Props<T> {
  query: UseQueryResult<T[]>
  /** How many there are, in words. */
  count: (n: number) => string
  /** Where a new one is made, and the word for it; without, the reader may make none. */
  make: { to: string; word: string } | null
  /** The name of the field that filters it, and what of a row is looked at. The whole list is here. */
  find: { label: string; textOf: (row: T) => string }
  /** What stands there instead of an empty list. */
  first: { icon: LucideIcon; title: string; body: string }
  children: (rows: T[]) => ReactNode
}

/** A page that is one list: its filter, its count, the way to a new one, and its rows by the
 * keyboard. */
export function ListPage<T>({ query, count, make, find, first, children }: Props<T>) {
  const go = useGo()
  const { isIn } = useSought()
  const shown = query.data?.filter((row) => isIn(find.textOf(row))) ?? []
  useRowKeys()
  useKeys(make ? { c: () => go(make.to) } : {})
  return (
    <Paper withBorder>
      <Group className="head" gap={8}>
        {query.data?.length ? <Find label={find.label} /> : null}
        <Text size="xs" c="dimmed" className="num" role="status">
          {query.data ? count(shown.length) : ''}
        </Text>
        {make ? (
          <Button component={Go} to={make.to} ml="auto" leftSection={<Plus size={14} />}>
            {make.word}
          </Button>
        ) : null}
      </Group>
      <Loaded query={query}>
        {(rows) =>
          shown.length ? (
            children(shown)
          ) : rows.length ? (
            <NoneFits />
          ) : (
            <Empty icon={first.icon} title={first.title}>
              {first.body}
            </Empty>
          )
        }
      </Loaded>
    </Paper>
  )
}
