import { Button, NumberInput, Select, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { KeyRound, Plus, ServerCog } from 'lucide-react'
import { useState } from 'react'
import { api, ok, type Shape } from '../../../api/client'
import { enrolmentsQuery, tokensQuery } from '../../../api/queries/access'
import { OneTimeLink } from '../../../ui/account/OneTimeLink'
import { ConfirmDialog } from '../../../ui/form/ConfirmDialog'
import { FormDialog } from '../../../ui/form/FormDialog'
import { EmptyState } from '../../../ui/layout/EmptyState'
import { QueryResult } from '../../../ui/layout/QueryResult'
import { Section } from '../../../ui/layout/Section'
import { Ago } from '../../../ui/state/Time'
import { useWords } from '../../../ui/text'
import { showError } from '../../../ui/toast'
import { useText } from '../text'
import '../settings.css'

type Token = Shape<'TokenRecord'>
const DAY = 86_400

const KINDS = {
  token: {
    query: tokensQuery,
    make: (name: string, expires_in: number | null) =>
      ok<Token>(api.POST('/api/token', { body: { name, expires_in } })),
    drop: (id: string) => ok(api.DELETE('/api/token/{id}', { params: { path: { id } } })),
  },
  enrolment: {
    query: enrolmentsQuery,
    make: (name: string, expires_in: number | null, uses: number) =>
      ok<Token>(
        api.POST('/api/enrolment', { body: { name, uses, ...(expires_in ? { expires_in } : {}) } }),
      ),
    drop: (id: string) => ok(api.DELETE('/api/enrolment/{id}', { params: { path: { id } } })),
  },
} as const
type Kind = keyof typeof KINDS

export function CredentialsTab() {
  return (
    <Stack gap="md">
      <Tokens kind="token" />
      <Tokens kind="enrolment" />
    </Stack>
  )
}

function Tokens({ kind }: { kind: Kind }) {
  const t = useText()
  const client = useQueryClient()
  const tokens = useQuery(KINDS[kind].query)
  const [making, setMaking] = useState(false)
  const [secret, setSecret] = useState<string | null>(null)
  const [leaving, setLeaving] = useState<Token | null>(null)
  const settled = () => client.invalidateQueries({ queryKey: [kind] })
  const drop = useMutation({
    mutationFn: (token: Token) => KINDS[kind].drop(token.id),
    onError: showError,
    onSuccess: () => setLeaving(null),
    onSettled: settled,
  })
  const w =
    kind === 'token'
      ? {
          title: t.tokens,
          help: t.tokensHelp,
          make: t.newToken,
          none: t.noTokens,
          noneBody: t.noTokensBody,
          icon: KeyRound,
        }
      : {
          title: t.enrolments,
          help: t.enrolmentsHelp,
          make: t.newEnrolment,
          none: t.noEnrolments,
          noneBody: t.noEnrolmentsBody,
          icon: ServerCog,
        }
  return (
    <Section
      title={w.title}
      aside={w.help}
      right={
        <Button leftSection={<Plus size={14} />} onClick={() => setMaking(true)}>
          {w.make}
        </Button>
      }
    >
      <QueryResult query={tokens} lines={2}>
        {(all) =>
          all.length ? (
            <div role="list">
              {all.map((token) => (
                <TokenRow key={token.id} token={token} onRevoke={() => setLeaving(token)} />
              ))}
            </div>
          ) : (
            <EmptyState icon={w.icon} title={w.none}>
              {w.noneBody}
            </EmptyState>
          )
        }
      </QueryResult>
      <MakeDialog
        kind={kind}
        opened={making}
        title={w.make}
        onClose={() => setMaking(false)}
        onCreated={(token) => {
          setMaking(false)
          setSecret(token.token ?? null)
          void settled()
        }}
      />
      <OneTimeLink title={w.make} value={secret} onClose={() => setSecret(null)}>
        {t.tokenOnce}
      </OneTimeLink>
      <ConfirmDialog
        opened={leaving !== null}
        title={`${t.revoke}: ${leaving?.name ?? ''}`}
        action={t.revoke}
        busy={drop.isPending}
        onClose={() => setLeaving(null)}
        onConfirm={() => leaving && drop.mutate(leaving)}
      >
        {t.revokeBody}
      </ConfirmDialog>
    </Section>
  )
}

function TokenRow({ token, onRevoke }: { token: Token; onRevoke: () => void }) {
  const t = useText()
  return (
    <div role="listitem" className="row settings-token">
      <div className="clip">
        <Text size="sm" fw={550} className="clip">
          {token.name || '—'}
        </Text>
        <Text size="xs" c="dimmed" className="clip">
          <code>{token.prefix}…</code> · {t.createdBy} {token.created_by} ·{' '}
          <Ago at={token.creation_date} />
        </Text>
      </div>
      <Text size="xs" c="dimmed" className="hide-sm" component="div">
        {t.lastUse}: <Ago at={token.last_use} />
      </Text>
      <Text size="xs" c="dimmed" className="hide-sm" component="div">
        {t.expires}: {token.expires ? <Ago at={token.expires} /> : t.never}{' '}
        {t.usesLeft(token.uses_left)}
      </Text>
      <Button
        size="compact-xs"
        variant="default"
        onClick={onRevoke}
        aria-label={`${t.revoke}: ${token.name}`}
      >
        {t.revoke}
      </Button>
    </div>
  )
}

interface MakeProps {
  kind: Kind
  opened: boolean
  title: string
  onClose: () => void
  onCreated: (token: Token) => void
}

function MakeDialog({ kind, opened, title, onClose, onCreated }: MakeProps) {
  const t = useText()
  const w = useWords()
  const isToken = kind === 'token'
  const [name, setName] = useState('')
  const [life, setLife] = useState(String(isToken ? 365 * DAY : DAY))
  const [uses, setUses] = useState(1)
  const make = useMutation({
    mutationFn: () => KINDS[kind].make(name, Number(life) || null, uses),
    onError: showError,
    onSuccess: (token) => {
      setName('')
      onCreated(token)
    },
  })
  const lives = [
    { value: String(DAY), label: t.day },
    { value: String(30 * DAY), label: t.month },
    { value: String(365 * DAY), label: t.year },
    ...(isToken ? [{ value: '0', label: t.never }] : []),
  ]
  return (
    <FormDialog
      opened={opened}
      onClose={onClose}
      title={title}
      action={w.create}
      busy={make.isPending}
      onSubmit={() => make.mutate()}
    >
      <TextInput
        data-autofocus
        required={isToken}
        label={isToken ? t.tokenName : t.enrolmentName}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Select
        label={t.expires}
        data={lives}
        value={life}
        allowDeselect={false}
        onChange={(value) => value && setLife(value)}
      />
      {isToken ? null : (
        <NumberInput
          label={t.uses}
          min={1}
          max={10000}
          value={uses}
          onChange={(value) => setUses(Number(value) || 1)}
        />
      )}
    </FormDialog>
  )
}
