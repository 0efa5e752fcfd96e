import { Alert, Anchor, Badge, Button, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Download, Play } from 'lucide-react'
import { address } from '../../api/client'
import {
  type Script,
  type ScriptWithText,
  scriptWithTextQuery,
  usersOfScriptQuery,
} from '../../api/queries/automation/script'
import { useKeys } from '../../app/keys'
import { useCan } from '../../app/session'
import { usePageTitle } from '../../app/title'
import { bytes } from '../../lib/format'
import { AppLink, useAppNavigate } from '../../ui/AppLink'
import { EditConflict } from '../../ui/editConflict/EditConflict'
import { useText as useMeanwhileText } from '../../ui/editConflict/text'
import { CodeEditor } from '../../ui/editor/CodeEditor'
import { DiffView } from '../../ui/editor/DiffView'
import { Versions } from '../../ui/editor/Versions'
import { DeleteButton } from '../../ui/form/EditForm'
import { UnsavedChanges } from '../../ui/form/UnsavedChanges'
import { FormActions } from '../../ui/formPage/FormActions'
import { EmptyState } from '../../ui/layout/EmptyState'
import { QueryResult } from '../../ui/layout/QueryResult'
import { Section } from '../../ui/layout/Section'
import { showSuccess } from '../../ui/toast'
import { deleteFile, restoreVersion } from './files'
import { ScriptDetails } from './ScriptDetails'
import './scripts.css'
import { useText } from './text'
import { UploadButton } from './UploadButton'
import { type ScriptForm, useScriptForm } from './useScriptForm'

const scriptRoute = getRouteApi('/$customer/scripts/$id')

export function ScriptPage() {
  const t = useText()
  const { id } = scriptRoute.useParams()
  const mayRead = useCan()('script.read')
  const query = useQuery({ ...scriptWithTextQuery(id), enabled: mayRead })
  usePageTitle(query.data?.file.filename ?? t.list, t.list)
  if (!mayRead) return <EmptyState title={t.managersOnly} />
  return (
    <QueryResult query={query}>
      {(script) => <Inside key={script.file.id} script={script} />}
    </QueryResult>
  )
}

function Inside({ script }: { script: ScriptWithText }) {
  const { file, content } = script
  const t = useText()
  const mayEdit = useCan()('script.edit')
  const form = useScriptForm(script)
  const { text } = form
  const client = useQueryClient()
  const restore = async (version: number) => {
    await restoreVersion(file, version)
    await client.invalidateQueries({ queryKey: ['file'] })
    showSuccess(t.restored(version))
  }
  useKeys({ 'mod+s': form.save, 'mod+Enter': form.save })
  return (
    <>
      <div className="scripts-head">
        <Title order={2} size="h4" className="clip">
          {file.filename}
        </Title>
        <Badge size="sm">{t.version(file.version)}</Badge>
        <Text size="xs" c="dimmed">
          {bytes(file.size)}
        </Text>
        <Group ml="auto" gap={8}>
          <Button
            component="a"
            href={address(`/file/${file.id}/download`)}
            download
            variant="default"
            leftSection={<Download size={14} />}
          >
            {t.download}
          </Button>
          {mayEdit ? <UploadButton over={file} word={t.replace} successText={t.saved} /> : null}
        </Group>
      </div>
      <TextConflict form={form} />
      <div className="scripts-split">
        <div className="scripts-editor">
          {content.isText ? (
            <CodeEditor
              label={t.content}
              value={text.values.text}
              onChange={(value) => text.set({ text: value })}
              filename={file.filename}
              readOnly={!mayEdit}
              check={mayEdit}
            />
          ) : (
            <Alert color="gray">{t.noText}</Alert>
          )}
        </div>
        <Stack gap={12}>
          <UsedBy file={file} mayEdit={mayEdit} />
          <ScriptDetails form={form} readOnly={!mayEdit} />
          <Section title={t.versions} padded>
            <Versions id={file.id} onRestore={mayEdit ? restore : undefined} />
          </Section>
        </Stack>
      </div>
      {mayEdit ? (
        <FormActions
          busy={form.isBusy}
          disabled={!form.isDirty}
          onSubmit={form.save}
          cancelTo="/scripts"
        >
          <RemoveScript file={file} />
        </FormActions>
      ) : null}
      <UnsavedChanges when={form.isDirty} />
    </>
  )
}

/** Someone else saved another text. */
function TextConflict({ form }: { form: ScriptForm }) {
  const m = useMeanwhileText()
  const { base, theirs, rebase } = form.text
  if (!theirs) return null
  const settle = (keep: boolean) => {
    rebase(theirs, keep)
    form.reset()
  }
  return (
    <EditConflict
      object="file"
      id={theirs.id}
      version={theirs.version}
      error={form.error}
      onTake={() => settle(false)}
      onKeep={() => settle(true)}
    >
      <DiffView before={base.text} after={theirs.text} label={m.difference} />
    </EditConflict>
  )
}

function UsedBy({ file, mayEdit }: { file: Script; mayEdit: boolean }) {
  const t = useText()
  const { data: users = [] } = useQuery(usersOfScriptQuery(file.id))
  const homeOf = (kind: string) => (kind.endsWith('Task') ? '/tasks' : '/monitors')
  return (
    <Section title={t.usedBy} padded>
      <Stack gap={8}>
        {users.length === 0 ? <Text size="sm">{t.unused}</Text> : null}
        {users.map((user) => (
          <Anchor
            key={user.id}
            component={AppLink}
            to={`${homeOf(user._type)}/${user.id}`}
            size="sm"
          >
            {user.name}
          </Anchor>
        ))}
        {mayEdit ? (
          <Group gap={8}>
            <Button
              component={AppLink}
              to="/tasks/new"
              search={{ script: file.id }}
              variant="default"
              leftSection={<Play size={14} />}
            >
              {t.makeTask}
            </Button>
          </Group>
        ) : null}
        {mayEdit && users.length ? (
          <Text size="xs" c="dimmed">
            {t.inUse}
          </Text>
        ) : null}
      </Stack>
    </Section>
  )
}

function RemoveScript({ file }: { file: Script }) {
  const t = useText()
  const go = useAppNavigate()
  const client = useQueryClient()
  const { data: users = [] } = useQuery(usersOfScriptQuery(file.id))
  const remove = async () => {
    await deleteFile(file.id)
    showSuccess(t.deleted)
    go('/scripts')
    client.removeQueries({ queryKey: ['file', file.id] })
    void client.invalidateQueries({ queryKey: ['file', 'list'] })
  }
  return (
    <DeleteButton
      name={file.filename}
      refusal={users.length ? t.inUse : undefined}
      onDelete={remove}
    >
      {t.deleteBody}
    </DeleteButton>
  )
}
