import { ActionIcon, Button, Checkbox, Group, SegmentedControl, Stack } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { ArrowDown, ArrowUp } from 'lucide-react'
import { useState } from 'react'
import { api, ok } from '../../../api/client'
import { useHasLevel } from '../../../app/session'
import { Dialog } from '../../../ui/form/Dialog'
import { showError, showSuccess } from '../../../ui/toast'
import { layoutQuery } from '../queries'
import { useText } from '../text'
import { moveCard, type PlacedCard } from './layout'

interface Props {
  layout: PlacedCard[]
  onClose: () => void
}

/** Order, width and visibility of the cards, for oneself or for everyone. */
export function ArrangeDialog({ layout, onClose }: Props) {
  const t = useText()
  const isManager = useHasLevel('manager')
  const [cards, setCards] = useState(layout)
  const { data: stored } = useQuery(layoutQuery)
  const save = useSave(onClose)
  const change = (row: PlacedCard, part: Partial<PlacedCard>) =>
    setCards(cards.map((other) => (other === row ? { ...row, ...part } : other)))
  return (
    <Dialog opened onClose={onClose} title={t.arrangeTitle} size="lg">
      <Stack gap="sm">
        <ol className="dash-arrange">
          {cards.map((row) => (
            <li key={row.card}>
              <Checkbox
                label={t.cards[row.card]}
                checked={!row.hidden}
                onChange={(event) => change(row, { hidden: !event.currentTarget.checked })}
              />
              <SegmentedControl
                size="xs"
                aria-label={t.width(t.cards[row.card])}
                value={row.size}
                onChange={(size) => change(row, { size: size as PlacedCard['size'] })}
                data={[
                  { value: 'half', label: t.half },
                  { value: 'full', label: t.full },
                ]}
              />
              <Group gap={4} wrap="nowrap">
                <ActionIcon
                  variant="default"
                  aria-label={t.moveUp(t.cards[row.card])}
                  onClick={() => setCards(moveCard(cards, row.card, -1))}
                >
                  <ArrowUp size={14} />
                </ActionIcon>
                <ActionIcon
                  variant="default"
                  aria-label={t.moveDown(t.cards[row.card])}
                  onClick={() => setCards(moveCard(cards, row.card, 1))}
                >
                  <ArrowDown size={14} />
                </ActionIcon>
              </Group>
            </li>
          ))}
        </ol>
        <Group justify="flex-end" gap={8}>
          <Group gap={8} mr="auto">
            <Button variant="subtle" onClick={() => save.mutate({ cards: null })}>
              {t.resetOwn}
            </Button>
            {isManager && stored?.shared ? (
              <Button variant="subtle" onClick={() => save.mutate({ cards: null, shared: true })}>
                {t.resetShared}
              </Button>
            ) : null}
          </Group>
          {isManager ? (
            <Button variant="default" onClick={() => save.mutate({ cards, shared: true })}>
              {t.saveShared}
            </Button>
          ) : null}
          <Button loading={save.isPending} onClick={() => save.mutate({ cards })}>
            {t.saveOwn}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}

interface Change {
  /** Null: without an own layout the shared one applies, without that the default. */
  cards: PlacedCard[] | null
  shared?: boolean
}

function useSave(onDone: () => void) {
  const t = useText()
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ cards, shared = false }: Change) =>
      cards
        ? ok(api.PUT('/view/layout/dashboard', { body: { cards, shared } }))
        : ok(
            api.DELETE('/view/layout/dashboard', { params: { query: { shared: String(shared) } } }),
          ),
    onSuccess: (record, { cards, shared }) => {
      client.setQueryData(layoutQuery.queryKey, record)
      const done = cards ? [t.layoutSaved, t.sharedSaved] : [t.layoutReset, t.sharedReset]
      showSuccess(done[shared ? 1 : 0]!)
      onDone()
    },
    onError: showError,
  })
}
