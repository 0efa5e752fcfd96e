import { Alert, Anchor, Checkbox, Group, Select, Skeleton, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { scriptsQuery } from '../../../api/queries/automation/script'
import { useCan } from '../../../app/session'
import { AppLink } from '../../../ui/AppLink'
import { CodeEditor } from '../../../ui/editor/CodeEditor'
import { EmptyState } from '../../../ui/layout/EmptyState'
import type { FormProps } from '../draft/taskDraft'
import type { ScriptDraft } from '../draft/useScriptDraft'
import { useText } from '../text'
import { useDetailText } from './text'

/** The script of a task, where its reader may see it. */
export function ScriptPane(props: FormProps & { script: ScriptDraft }) {
  const t = useText()
  const { task, script, readOnly } = props
  const mayRead = useCan()('script.read')
  if (!mayRead) return <EmptyState title={t.noSource} />
  return (
    <div className="task-editor">
      <ScriptChoice {...props} />
      {script.others > 0 && script.isDirty ? <SharedNote script={script} /> : null}
      <Body script={script} runas={task.script_runas ?? ''} readOnly={readOnly} />
    </div>
  )
}

function Body({
  script,
  runas,
  readOnly,
}: {
  script: ScriptDraft
  runas: string
  readOnly: boolean
}) {
  const t = useText()
  if (script.isDeleted) return <Alert color="red">{t.noScript}</Alert>
  if (script.isLoading) return <Skeleton height="100%" />
  if (!script.isText) return <Alert color="gray">{t.noText}</Alert>
  if (!script.file) return null
  return (
    <CodeEditor
      label={t.script}
      value={script.text}
      onChange={script.setText}
      filename={script.file.filename}
      runas={runas}
      readOnly={readOnly}
      check={!readOnly}
    />
  )
}

function SharedNote({ script }: { script: ScriptDraft }) {
  const t = useText()
  return (
    <Alert color="yellow" p="xs">
      <Group gap={12}>
        <Text size="sm">{t.shared(script.others)}</Text>
        <Checkbox
          size="xs"
          label={t.saveCopy}
          checked={script.isCopy}
          onChange={(event) => script.setCopy(event.currentTarget.checked)}
        />
      </Group>
    </Alert>
  )
}

function ScriptChoice({
  task,
  set,
  errors,
  readOnly,
  script,
}: FormProps & { script: ScriptDraft }) {
  const t = useText()
  const detail = useDetailText()
  const { data: files = [] } = useQuery(scriptsQuery)
  const scripts = files.filter((file) => file._type === 'Script' || file.id === task.script_id)
  return (
    <Group gap={8} align="center" wrap="nowrap">
      <Select
        size="xs"
        flex={1}
        maw={420}
        searchable
        allowDeselect={false}
        aria-label={t.scriptFile}
        readOnly={readOnly}
        data={scripts.map((script) => ({ value: script.id, label: script.filename }))}
        value={task.script_id ?? null}
        error={errors.script_id}
        onChange={(script_id) => script_id && set({ script_id })}
      />
      {script.file ? (
        <Text size="xs" c="dimmed" className="hide-sm">
          <Anchor component={AppLink} to={`/scripts/${script.file.id}`} size="xs">
            {detail.past.version(script.file.version)}
          </Anchor>
        </Text>
      ) : null}
    </Group>
  )
}
