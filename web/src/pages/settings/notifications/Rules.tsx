import { Badge, Button, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ListFilter, Plus } from 'lucide-react'
import { useState } from 'react'
import { api, ok, type Shape } from '../../../api/client'
import { channelsQuery, rulesQuery } from '../../../api/queries/notifications'
import { EditMenu } from '../../../ui/form/EditMenu'
import { EmptyState } from '../../../ui/layout/EmptyState'
import { QueryResult } from '../../../ui/layout/QueryResult'
import { Section } from '../../../ui/layout/Section'
import { severityText } from '../../../ui/monitoring/severityText'
import { useWords } from '../../../ui/text'
import { RuleDialog } from './RuleDialog'
import { useText } from './text'

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
      <QueryResult query={rules} lines={2}>
        {(all) =>
          all.length ? (
            <div role="list">
              {all.map((rule) => (
                <RuleRow key={rule.id} rule={rule} onEdit={() => setEditing(rule)} />
              ))}
            </div>
          ) : (
            <EmptyState icon={ListFilter} title={t.noRules}>
              {t.noRulesBody}
            </EmptyState>
          )
        }
      </QueryResult>
      {editing ? (
        <RuleDialog rule={editing === 'new' ? null : editing} onClose={() => setEditing(null)} />
      ) : null}
    </Section>
  )
}

function RuleRow({ rule, onEdit }: { rule: Rule; onEdit: () => void }) {
  const t = useText()
  const w = useWords()
  const { data: channels } = useQuery(channelsQuery)
  const names = rule.channels.map(
    (id) => channels?.find((channel) => channel.id === id)?.name ?? '…',
  )
  const filters = [
    ...rule.kinds,
    ...rule.states,
    ...rule.tags,
    ...(rule.severity === 'LOW' ? [] : [`≥ ${severityText(rule.severity)}`]),
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
      <EditMenu
        name={rule.name}
        onEdit={onEdit}
        remove={() => ok(api.DELETE('/notify/rule/{id}', { params: { path: { id: rule.id } } }))}
        queryKey={rulesQuery.queryKey}
      />
    </div>
  )
}
