{{/* Names, and the parts that daemons and coordinators have in common. */}}
{{- define "forebay.name" -}}
{{- if contains "forebay" .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-forebay{{ end }}
{{- end }}

{{- define "forebay.coordinator" -}}
{{ include "forebay.name" . }}-coordinator
{{- end }}

{{- define "forebay.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* The labels that select pods: a list of the context and the component. */}}
{{- define "forebay.selector" -}}
app.kubernetes.io/name: forebay
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "forebay.labels" -}}
{{ include "forebay.selector" . }}
app.kubernetes.io/version: {{ (index . 0).Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ (index . 0).Release.Service }}
helm.sh/chart: {{ (index . 0).Chart.Name }}-{{ (index . 0).Chart.Version }}
{{- end }}

{{/* What every pod has: no token of the API, no root, and the group of trainers. */}}
{{- define "forebay.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: {{ .Values.user }}
  runAsGroup: {{ .Values.user }}
  fsGroup: {{ .Values.user }}
  fsGroupChangePolicy: OnRootMismatch
  supplementalGroups: [{{ .Values.trainerGroup }}]
  seccompProfile:
    type: RuntimeDefault
{{- end }}

{{- define "forebay.container" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: ["ALL"]
{{- end }}

{{- define "forebay.scheme" -}}
{{ if .Values.coordinator.tls.secret }}https{{ else }}http{{ end }}
{{- end }}

{{- define "forebay.replicas" -}}
{{ if eq .Values.coordinator.store "etcd" }}{{ .Values.coordinator.replicas }}{{ else }}1{{ end }}
{{- end }}

{{/* The addresses of all coordinators, each of which has a name of its own. */}}
{{- define "forebay.endpoints" -}}
{{- $name := include "forebay.coordinator" . -}}
{{- $addresses := list -}}
{{- range $number := until (include "forebay.replicas" . | int) -}}
{{- $host := printf "%s-%d.%s.%s.svc" $name $number $name $.Release.Namespace -}}
{{- $addresses = append $addresses (printf "%s://%s:%d" (include "forebay.scheme" $) $host (int $.Values.coordinator.port)) -}}
{{- end -}}
{{ join "," $addresses }}
{{- end }}

{{/* The configuration of daemons. An init container replaces @NODE_NAME@. */}}
{{- define "forebay.config" -}}
drain_timeout = "{{ .Values.daemon.drainTimeout }}s"

[control]
dir = "/run/forebay/sockets"
unix_group = {{ .Values.trainerGroup }}

[coordinator]
{{- if .Values.coordinator.enabled }}
endpoint = "{{ include "forebay.endpoints" . }}"
node = "@NODE_NAME@"
{{- if .Values.coordinator.tokenSecret }}
token_file = "/etc/forebay-token/token"
{{- end }}
{{- if .Values.coordinator.tls.secret }}
tls_ca = "/etc/forebay-ca/ca.crt"
{{- end }}
{{- if .Values.coordinator.tls.clientSecret }}
tls_certificate = "/etc/forebay-tls/tls.crt"
tls_key = "/etc/forebay-tls/tls.key"
{{- end }}
{{- else }}
path = "/var/lib/forebay/ledgers"
{{- end }}
{{- if .Values.metrics.enabled }}

[metrics]
address = "0.0.0.0:{{ .Values.metrics.daemonPort }}"
{{- end }}

{{ .Values.daemon.config | trim }}
{{ end }}
