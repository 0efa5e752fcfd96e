import { MultiSelect, Select, Stack, Switch, TextInput } from '@mantine/core'
import type { Webhook } from '../../../api/queries/automation/webhook'
import { hasErrorIn, OptionGroup } from '../../../ui/formPage/OptionGroup'
import { keyOf, useTargets } from '../../../ui/run/targetList'
import { useText } from '../text'

export type WebhookDraft = Pick<Webhook, 'name' | 'enable' | 'signature' | 'tasks' | 'workflows'>

interface Props {
  draft: WebhookDraft
  set: (change: Partial<WebhookDraft>) => void
  errors: Record<string, string>
  readOnly: boolean
}

export function WebhookFields({ draft, set, errors, readOnly }: Props) {
  const t = useText()
  const all = useTargets()
  const chosen = [
    ...draft.tasks.map((id) => `task ${id}`),
    ...draft.workflows.map((id) => `workflow ${id}`),
  ]
  const attach = (keys: string[]) => {
    const of = (kind: string) =>
      keys.filter((key) => key.startsWith(`${kind} `)).map((key) => key.slice(kind.length + 1))
    set({ tasks: of('task'), workflows: of('workflow') })
  }
  return (
    <Stack gap={10}>
      <TextInput
        label={t.name}
        required
        readOnly={readOnly}
        value={draft.name}
        error={errors.name}
        onChange={(event) => set({ name: event.currentTarget.value })}
      />
      <MultiSelect
        label={t.attached}
        description={t.attachHint}
        searchable
        readOnly={readOnly}
        data={all.map((target) => ({ value: keyOf(target), label: target.name }))}
        value={chosen}
        error={errors.tasks ?? errors.workflows}
        onChange={attach}
      />
      <Switch
        label={t.enable}
        disabled={readOnly}
        checked={draft.enable}
        onChange={(event) => set({ enable: event.currentTarget.checked })}
      />
      <OptionGroup
        title={t.callers}
        summary={t.signatures[draft.signature]}
        hasErrors={hasErrorIn(errors, ['signature'])}
      >
        <Select
          label={t.signature}
          allowDeselect={false}
          readOnly={readOnly}
          data={Object.entries(t.signatures).map(([value, label]) => ({ value, label }))}
          value={draft.signature}
          error={errors.signature}
          onChange={(signature) => signature && set({ signature })}
        />
      </OptionGroup>
    </Stack>
  )
}
