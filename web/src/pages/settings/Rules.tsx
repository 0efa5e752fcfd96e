import { ActionIcon, Badge, Button, Menu, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Ellipsis, ListFilter, Plus } from 'lucide-react'
import { useState } from 'react'
import { api, ok, type Shape } from '../../api/client'
import { channelsQuery, rulesQuery } from '../../api/queries/notify'
import { Confirm } from '../../ui/Confirm'
import { Empty } from '../../ui/Empty'
import { Loaded } from '../../ui/Loaded'
import { Section } from '../../ui/Section'
import { useWords } from '../../ui/text'
import { failed } from '../../ui/toast'
import { useText } from './notifyText'
import { RuleDialog } from './RuleDialog'

type Rule = Shape<'RuleRecord'>

export function Rules() {
  const t = useText()
  const rules = useQuery(rulesQuery)
  const { data: channels } = useQuery(channelsQuery)
  const [editing, setEditing] = useState<Rule | 'new' | null>(null)
  return (
    <Section
      title={t.rules}
      aside={t.rulesHelp}
      right={
        <Button
          leftSection={<Plus size={14} />}
          disabled={!channels?.length}
          onClick={() => setEditing('new')}
        >
          {t.newRule}
        </Button>
      }
    >
      <Loaded query={rules} lines={2}>
        {(all) =>
          all.length ? (
            <div role="list">
              {all.map((one) => (
                <RuleRow key={one.id} rule={one} onEdit={() => setEditing(one)} />
              ))}
            </div>
          ) : (
            <Empty icon={ListFilter} title={t.noRules}>
              {t.noRulesBody}
            </Empty>
          )
        }
      </Loaded>
      {editing ? (
        <RuleDialog rule={editing === 'new' ? null : editing} onClose={() => setEditing(null)} />
      ) : null}
    </Section>
  )
}

function RuleRow({ rule, onEdit }: { rule: Rule; onEdit: () => void }) {
  const t = useText()
  const w = useWords()
  const client = useQueryClient()
  const { data: channels } = useQuery(channelsQuery)
  const [leaving, setLeaving] = useState(false)
  const drop = useMutation({
    mutationFn: () => ok(api.DELETE('/notify/rule/{id}', { params: { path: { id: rule.id } } })),
    onError: failed,
    onSettled: () => client.invalidateQueries({ queryKey: rulesQuery.queryKey }),
  })
  const names = rule.channels.map((id) => channels?.find((one) => one.id === id)?.name ?? '…')
  const filters = [
    ...rule.kinds,
    ...rule.states,
    ...rule.tags,
    ...(rule.severity === 'LOW' ? [] : [`≥ ${rule.severity}`]),
  ]
  return (
    <div role="listitem" className="row settings-session">
      <div className="clip">
        <Text size="sm" fw={550} className="clip">
          {rule.name} {rule.enable ? null : <Badge size="xs">{t.off}</Badge>}
        </Text>
        <Text size="xs" c="dimmed" className="clip">
          {filters.join(', ') || w.all}
        </Text>
      </div>
      <Text size="xs" className="clip">
        → {names.join(', ')}
      </Text>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon aria-label={`${w.actions}: ${rule.name}`}>
            <Ellipsis size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={onEdit}>{w.edit}</Menu.Item>
          <Menu.Item color="red" onClick={() => setLeaving(true)}>
            {w.delete}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Confirm
        opened={leaving}
        title={w.reallyDelete(rule.name)}
        action={w.delete}
        busy={drop.isPending}
        onClose={() => setLeaving(false)}
        onConfirm={drop.mutate}
      />
    </div>
  )
}
