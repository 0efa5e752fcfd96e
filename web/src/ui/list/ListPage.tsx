import { Button, Group, Paper, Text } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { type LucideIcon, Plus } from 'lucide-react'
import type { ReactNode } from 'react'
import { useKeys } from '../../app/keys'
import { AppLink, useAppNavigate } from '../AppLink'
import { EmptyState } from '../layout/EmptyState'
import { QueryResult } from '../layout/QueryResult'
import { useRowKeys } from './rowKeys'
import { NoMatches, SearchField, useListSearch } from './SearchField'

interface Props<T> {
  query: UseQueryResult<T[]>
  /** The text with the number of rows. */
  count: (n: number) => string
  /** The address and the label for creating a record; null: the reader may not. */
  make: { to: string; word: string } | null
  /** The name of the filter field, and the texts of a row that it searches. The list is complete. */
  find: { label: string; textOf: (row: T) => string }
  /** The text of an empty list. */
  first: { icon: LucideIcon; title: string; body: string }
  children: (rows: T[]) => ReactNode
}

/** A page that is one list: its filter, its count, the way to a new one, and its rows by the
 * keyboard. */
export function ListPage<T>({ query, count, make, find, first, children }: Props<T>) {
  const go = useAppNavigate()
  const { isIn } = useListSearch()
  const visible = query.data?.filter((row) => isIn(find.textOf(row))) ?? []
  useRowKeys()
  useKeys(make ? { c: () => go(make.to) } : {})
  return (
    <Paper withBorder>
      <Group className="head" gap={8}>
        {query.data?.length ? <SearchField label={find.label} /> : null}
        <Text size="xs" c="dimmed" className="num" role="status">
          {query.data ? count(visible.length) : ''}
        </Text>
        {make ? (
          <Button component={AppLink} to={make.to} ml="auto" leftSection={<Plus size={14} />}>
            {make.word}
          </Button>
        ) : null}
      </Group>
      <QueryResult query={query}>
        {(rows) =>
          visible.length ? (
            children(visible)
          ) : rows.length ? (
            <NoMatches />
          ) : (
            <EmptyState icon={first.icon} title={first.title}>
              {first.body}
            </EmptyState>
          )
        }
      </QueryResult>
    </Paper>
  )
}
