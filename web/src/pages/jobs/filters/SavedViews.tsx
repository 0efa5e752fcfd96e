import { ActionIcon, Button, Checkbox, Group, Menu, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Bookmark, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { api, ok } from '../../../api/client'
import { type JobFilter, viewsQuery } from '../../../api/queries/job'
import { useAppNavigate } from '../../../ui/AppLink'
import { FormDialog } from '../../../ui/form/FormDialog'
import { useWords } from '../../../ui/text'
import { showError, showSuccess } from '../../../ui/toast'
import { useJobsText } from '../listText'
import { validFilter } from '../search'

const PAGE = 'jobs'

/** Filters saved under a name, private or shared. */
export function SavedViews({ filter }: { filter: JobFilter }) {
  const t = useJobsText()
  const go = useAppNavigate()
  const client = useQueryClient()
  const { data } = useQuery(viewsQuery)
  const [isSaving, setSaving] = useState(false)
  const views = (data ?? []).filter((view) => view.page === PAGE)
  const remove = useMutation({
    mutationFn: (id: string) => ok(api.DELETE('/view/{id}', { params: { path: { id } } })),
    onSettled: () => client.invalidateQueries({ queryKey: ['view'] }),
    onError: showError,
  })
  return (
    <>
      <Menu position="bottom-end" width={260}>
        <Menu.Target>
          <Button size="compact-xs" variant="default" leftSection={<Bookmark size={12} />}>
            {t.views}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {views.length ? null : <Menu.Label>{t.noViews}</Menu.Label>}
          {views.map((view) => (
            <Group key={view.id} gap={2} wrap="nowrap">
              <Menu.Item onClick={() => go('/jobs', { ...filterOf(view.query) })}>
                {view.name}
                {view.shared ? (
                  <Text span size="xs" c="dimmed" ml={6}>
                    {t.shared}
                  </Text>
                ) : null}
              </Menu.Item>
              {view.mine ? (
                <ActionIcon
                  size="sm"
                  aria-label={t.deleteView(view.name)}
                  onClick={() => remove.mutate(view.id)}
                >
                  <Trash2 size={13} />
                </ActionIcon>
              ) : null}
            </Group>
          ))}
          <Menu.Divider />
          <Menu.Item onClick={() => setSaving(true)}>{t.saveView}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {isSaving ? <SaveView filter={filter} onClose={() => setSaving(false)} /> : null}
    </>
  )
}

export function queryOf(filter: JobFilter): string {
  return new URLSearchParams(filter as Record<string, string>).toString()
}

export function filterOf(query: string): JobFilter {
  return validFilter(Object.fromEntries(new URLSearchParams(query)))
}

function SaveView({ filter, onClose }: { filter: JobFilter; onClose: () => void }) {
  const t = useJobsText()
  const w = useWords()
  const client = useQueryClient()
  const [name, setName] = useState('')
  const [shared, setShared] = useState(false)
  const save = useMutation({
    mutationFn: () =>
      ok(
        api.POST('/view', {
          body: { name: name.trim(), page: PAGE, query: queryOf(filter), shared },
        }),
      ),
    onSuccess: () => {
      showSuccess(t.viewSaved)
      void client.invalidateQueries({ queryKey: ['view'] })
      onClose()
    },
    onError: showError,
  })
  return (
    <FormDialog
      title={t.saveView}
      action={w.save}
      busy={save.isPending}
      disabled={!name.trim()}
      onClose={onClose}
      onSubmit={() => {
        if (name.trim()) save.mutate()
      }}
    >
      <TextInput
        data-autofocus
        label={t.viewName}
        maxLength={100}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Checkbox
        size="xs"
        label={t.share}
        checked={shared}
        onChange={(event) => setShared(event.currentTarget.checked)}
      />
    </FormDialog>
  )
}
