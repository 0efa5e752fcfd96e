import { Button, Group, MultiSelect, NumberInput, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { api, ok } from '../../../api/client'
import { byField } from '../../../api/errors'
import { hostNamesQuery, MAX_CHOICES } from '../../../api/queries/names'
import { sortNames } from '../../../lib/format'
import { Dialog } from '../../../ui/form/Dialog'
import { Form } from '../../../ui/form/Form'
import { useWords } from '../../../ui/text'
import { useText } from '../text'
import { ExecResults } from './ExecResults'
import { splitCommand } from './splitCommand'

interface Props {
  onClose: () => void
  /** Names of hosts to begin with. */
  hosts?: string[]
}

/** One command on many hosts; each runs it as a job of its own. */
export function ExecDialog({ onClose, hosts: first = [] }: Props) {
  const t = useText()
  const w = useWords()
  const form = useRef<HTMLFormElement>(null)
  const [line, setLine] = useState('')
  const [hosts, setHosts] = useState<string[]>(first)
  const [tags, setTags] = useState<string[]>([])
  const [limit, setLimit] = useState<number | string>(60)
  const { data = [] } = useQuery(hostNamesQuery)
  const words = splitCommand(line)
  const client = useQueryClient()
  // The same command sent twice by a double click runs once.
  const [key] = useState(() => crypto.randomUUID())
  const run = useMutation({
    mutationFn: () =>
      ok(
        api.POST('/exec', {
          body: { command: words ?? [], hosts, tags, timeout: Number(limit) * 1000 },
          headers: { 'Idempotency-Key': key },
        }),
      ),
    onSuccess: () => void client.invalidateQueries({ queryKey: ['job'] }),
  })
  const errors = byField(run.error)
  return (
    <Dialog opened onClose={onClose} title={t.exec} size="lg">
      {run.data ? (
        <Stack gap="sm">
          <Text size="sm" role="status">
            {t.started(run.data.jobs.length)}
          </Text>
          <ExecResults jobs={run.data.jobs} />
        </Stack>
      ) : (
        <Form
          ref={form}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey))
              form.current?.requestSubmit()
          }}
          onSubmit={() => run.mutate()}
        >
          <Stack gap="sm">
            <Text size="sm" c="dimmed">
              {t.execBody}
            </Text>
            <TextInput
              data-autofocus
              required
              label={t.words}
              description={t.wordsHelp}
              placeholder="uptime"
              classNames={{ input: 'mono' }}
              value={line}
              onChange={(event) => setLine(event.currentTarget.value)}
              error={errors.command}
            />
            <MultiSelect
              searchable
              label={t.onHosts}
              limit={MAX_CHOICES}
              data={data.map((host) => host.name)}
              value={hosts}
              onChange={setHosts}
              error={errors.hosts}
            />
            <MultiSelect
              searchable
              label={t.onTags}
              data={sortNames(new Set(data.flatMap((host) => host.tags)))}
              value={tags}
              onChange={setTags}
              error={errors.tags}
            />
            <NumberInput
              label={t.timeLimit}
              min={1}
              value={limit}
              onChange={setLimit}
              error={errors.timeout}
            />
            {run.error && Object.keys(errors).length === 0 ? (
              <Text c="red.9" size="sm" role="alert">
                {run.error.message}
              </Text>
            ) : null}
            <Group justify="flex-end" gap={8}>
              <Button variant="default" onClick={onClose}>
                {w.cancel}
              </Button>
              <Button
                type="submit"
                loading={run.isPending}
                disabled={!words?.length || hosts.length + tags.length === 0}
                title={hosts.length + tags.length === 0 ? t.where : undefined}
              >
                {t.run}
              </Button>
            </Group>
          </Stack>
        </Form>
      )}
    </Dialog>
  )
}
